/** Rows of the data of a version: evenly spaced ones of its dataset, where that is there and may be read. */

import { useResource } from "../state.js";

/** @typedef {{ row: number, cells: Record<string, any> }} Row */

/**
 * At most `size` rows; null until they are there, empty where the dataset was deleted.
 * @param {any} version
 * @param {number} size
 * @returns {Row[] | null}
 */
export function useSample(version, size) {
  const id = version.dataset?.id;
  const { data, error } = useResource(id ? `v1/datasets/${encodeURIComponent(id)}/rows?sample=${size}` : null);
  if (!id || (error && data === null)) return EMPTY;
  return data && data.items;
}

/** @type {Row[]} */
const EMPTY = [];
