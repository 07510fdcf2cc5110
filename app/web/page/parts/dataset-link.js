/** A link to a dataset by its name. */

import { html } from "../html.js";
import { link } from "../router.js";
import { useResource } from "../state.js";

/** @param {{ id: string }} props */
export function DatasetLink({ id }) {
  const dataset = useResource(`v1/datasets/${encodeURIComponent(id)}`);
  if (dataset.data) return html`<a class="name" href=${link(["datasets", id])}>${dataset.data.name}</a>`;
  return html`<span>${/** @type {any} */ (dataset.error)?.status === 404 ? "deleted" : "…"}</span>`;
}
