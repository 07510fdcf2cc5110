/** Jobs in words: kind, state, progress. */

import { age, count, duration, secondsBetween } from "../format.js";
import { html } from "../html.js";
import { link } from "../router.js";

/** @type {Record<string, string>} */
export const KINDS = {
  training: "Training",
  evaluation: "Evaluation",
  prediction: "Batch prediction",
  promotion: "Promotion",
};

/** @type {Record<string, string>} */
export const PATHS = {
  training: "v1/training-jobs",
  evaluation: "v1/evaluations",
  prediction: "v1/batch-predictions",
  promotion: "v1/promotions",
};

/** @param {any} job */
export const isEnded = (job) => !["queued", "running"].includes(job.state);

/** @param {{ state: string }} props */
export const State = ({ state }) => html`<span class=${`state ${state}`}>${state}</span>`;

/** The progress in words. @param {any} progress */
export function progressText(progress) {
  const { phase, completed, total, unit } = progress;
  return `${phase === unit ? "" : `${phase}: `}${total ? `${count(completed)} of ${count(total)}` : count(completed)} ${unit}`;
}

/** The completed share of the job, else of its phase; null where it is unknown. @param {any} progress */
export const shareOf = (progress) => progress?.share ?? (progress?.total ? progress.completed / progress.total : null);

/** @param {{ progress: any, label: string }} props */
export function Progress({ progress, label }) {
  const share = shareOf(progress) ?? undefined;
  return html`<progress aria-label=${label} max="1" value=${share}></progress>`;
}

/** @param {{ jobs: any[], now: number, caption: string }} props */
export function JobTable({ jobs, now, caption }) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}><table>
    <caption class="hidden">${caption}</caption>
    <thead><tr><th scope="col">Job</th><th scope="col">Model</th><th scope="col">State</th><th scope="col" class="right">Took</th><th scope="col" class="right">Created</th></tr></thead>
    <tbody>${jobs.map((job) => html`<${JobRow} key=${job.id} job=${job} now=${now} />`)}</tbody>
  </table></div>`;
}

/** @param {{ job: any, now: number }} props */
function JobRow({ job, now }) {
  return html`<tr>
    <th scope="row"><a href=${link(["jobs", job.kind, job.id])}>${KINDS[job.kind] ?? job.kind}</a></th>
    <td class="name">${job.model}</td>
    <td><${State} state=${job.state} />${job.state === "running" && job.progress
      ? html` <${Progress} progress=${job.progress} label=${progressText(job.progress)} />` : ""}</td>
    <td class="right">${job.started_at ? duration(secondsBetween(job.started_at, job.finished_at ?? now)) : ""}</td>
    <td class="right">${age(job.created_at, now)}</td>
  </tr>`;
}
