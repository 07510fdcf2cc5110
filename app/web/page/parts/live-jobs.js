/** A page of jobs of all kinds that follows the stream of their changes. */

import { useEvents, useResource } from "../state.js";

/**
 * @param {string} query
 * @param {number} limit
 * @param {(job: any) => boolean} [belongs]
 */
export function useLiveJobs(query, limit, belongs = () => true) {
  const jobs = useResource(`v1/jobs?${query}&limit=${limit}`);
  const isFirst = !new URLSearchParams(query).has("after");
  const stream = jobs.data && `v1/jobs/events?after=${encodeURIComponent(jobs.data.last_change)}`;
  const changed = (/** @type {any} */ job) =>
    jobs.set((page) => ({ ...page, items: merged(page.items, job, belongs(job), isFirst).slice(0, Math.max(limit, page.items.length)) }));
  // The address of the stream changes only where the list is read again: each page has its own position.
  useEvents(stream, ["job"], changed, () => setTimeout(jobs.reload, 3000));
  return jobs;
}

/** New jobs are on the first page. @param {any[]} items @param {any} job @param {boolean} isWanted @param {boolean} isFirst */
function merged(items, job, isWanted, isFirst) {
  const others = items.filter((item) => item.id !== job.id);
  if (!isWanted) return others;
  if (others.length < items.length) return items.map((item) => (item.id === job.id ? job : item));
  return isFirst ? [job, ...items] : items;
}
