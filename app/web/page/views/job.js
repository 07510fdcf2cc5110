/** A job: its progress as it happens, what it does and why, its result, and what went wrong. */

import { useState } from "../vendor/hooks.js";
import { post } from "../api.js";
import { duration, moment, number, percent, secondsBetween } from "../format.js";
import { html } from "../html.js";
import { AsCode } from "../parts/as-code.js";
import { isEnded, KINDS, PATHS, Progress, progressText, shareOf, State } from "../parts/job-row.js";
import { Later } from "../parts/later.js";
import { usePermission } from "../parts/needs.js";
import { Plan } from "../parts/plan.js";
import { Empty, Failure, Shown } from "../parts/states.js";
import { Trace } from "../parts/trace.js";
import { goTo, link } from "../router.js";
import { useAction, useClock, useEvents, useResource } from "../state.js";

const jobResult = async () => (await import("../parts/job-result.js")).JobResult;

/** @param {{ kind: string, id: string }} props */
export function JobView({ kind, id }) {
  if (!PATHS[kind]) return html`<${Empty} isView title="There is no such kind of job"><a href=${link(["jobs"])}>All jobs</a><//>`;
  const path = `${PATHS[kind]}/${encodeURIComponent(id)}`;
  const job = useResource(path);
  return html`<${Shown} of=${job} what="the job" title="Job">${(/** @type {any} */ data) => html`
    <${Live} kind=${kind} path=${path} job=${data} set=${job.set} reload=${job.reload} />`}<//>`;
}

/** @param {{ kind: string, path: string, job: any, set: (change: (job: any) => any) => void, reload: () => void }} props */
function Live({ kind, path, job, set, reload }) {
  const [trace, setTrace] = useState(/** @type {any[]} */ ([]));
  const hasEnded = isEnded(job);
  const follow = (/** @type {any} */ event) => {
    if (event.progress) {
      const isNew = (/** @type {any[]} */ last) => event.number > (last.at(-1)?.number ?? 0);
      setTrace((last) => (isNew(last) ? [...last, { number: event.number, at: event.at, ...event.progress }] : last));
      set((last) => ({ ...last, progress: event.progress }));
    } else if (["queued", "running"].includes(event.transition.state)) {
      const { state, at, attempt } = event.transition;
      set((last) => ({ ...last, state, attempt, started_at: state === "running" ? (last.started_at ?? at) : last.started_at }));
    } else reload();
  };
  useEvents(hasEnded && trace.length ? null : `${path}/events`, ["transition", "progress"], follow, hasEnded ? () => {} : reload);
  const now = useClock(!hasEnded);
  return html`
    <h1>${KINDS[kind]} of <span class="name">${job.model}</span></h1>
    <p><${State} state=${job.state} /> ${took(job, now)}</p>
    ${!hasEnded && html`<${Running} job=${job} trace=${trace} now=${now} />`}
    ${job.error && html`<${Failure} problem=${{ ...job.error, message: job.error.detail }} />`}
    <${Actions} kind=${kind} path=${path} job=${job} reload=${reload} />
    <${Trace} trace=${trace} />
    ${kind === "training" ? html`<${Plan} job=${job} />` : html`<${Later} what="the result" load=${jobResult} kind=${kind} path=${path} job=${job} />`}
    <${AsCode} path=${`${path}?wait=30`} python=${[`job = service.${CLIENTS[kind]}.wait(${JSON.stringify(job.id)})`, "print(job.state, job.version)"]} />
  `;
}

/** @type {Record<string, string>} */
const CLIENTS = { training: "trainings", evaluation: "evaluations", prediction: "batch_predictions", promotion: "promotions" };

/** @param {any} job @param {number} now */
function took(job, now) {
  if (!job.started_at) return `created ${moment(job.created_at)}`;
  const seconds = Math.max(0, secondsBetween(job.started_at, job.finished_at ?? now));
  return isEnded(job) ? `in ${duration(seconds)}, ${moment(job.finished_at)}` : `for ${duration(seconds)}`;
}

/** @param {{ job: any, trace: any[], now: number }} props */
function Running({ job, trace, now }) {
  const { progress } = job;
  if (!progress) return html`<${Progress} label=${job.state === "queued" ? "Waits for a worker" : "Starts"} />
    <p class="note" role="status">${job.state === "queued" ? "Waits for a worker." : "Starts."}</p>`;
  const share = shareOf(progress);
  const left = progress.seconds_left ?? remaining(trace, progress, now);
  return html`<${Progress} progress=${progress} label=${progressText(progress)} />
    <p class="note" role="status">${progressText(progress)}${share === null ? "" : `, ${percent(share)}`}${left === null ? "" : `, about ${duration(left)} left`}</p>
    ${progress.functions !== null && html`<p class="note">${number(progress.functions)} functions in the model so far</p>`}`;
}

/**
 * The seconds that the current phase still takes at its rate so far; null where it is unknown.
 * @param {any[]} trace
 * @param {any} progress
 * @param {number} now
 */
function remaining(trace, progress, now) {
  const first = trace.find((one) => one.phase === progress.phase);
  if (!first || !progress.total || progress.completed <= first.completed) return null;
  const rate = (progress.completed - first.completed) / Math.max(0.5, secondsBetween(first.at, now));
  return (progress.total - progress.completed) / rate;
}

/** @param {{ kind: string, path: string, job: any, reload: () => void }} props */
function Actions({ kind, path, job, reload }) {
  const action = useAction(async (/** @type {string} */ verb) => {
    const changed = await post(`${path}/${verb}`);
    if (verb === "retry") goTo(link(["jobs", kind, changed.id]));
    else reload();
  });
  const mayChange = usePermission("train", ...(kind === "prediction" ? ["predict"] : []));
  const hasEnded = isEnded(job);
  const isEnding = !hasEnded && job.cancel_requested_at;
  const { version } = job;
  return html`<div class="actions">
    ${version && kind === "training" && job.state === "succeeded" && html`<a class="button primary" href=${link(["models", version.model, "versions", String(version.version)])}>Look at version ${version.version}</a>`}
    ${mayChange && !hasEnded && html`<button type="button" disabled=${action.isBusy || isEnding} onClick=${() => action.start("cancel")}>${isEnding ? "Is being cancelled" : "Cancel"}</button>`}
    ${mayChange && hasEnded && html`<button type="button" disabled=${action.isBusy} onClick=${() => action.start("retry")}>${job.state === "succeeded" ? "Run again" : "Retry"}</button>`}
    ${action.problem && html`<${Failure} problem=${action.problem} />`}
  </div>`;
}
