/** All jobs, as they are now. */

import { counted } from "../format.js";
import { html } from "../html.js";
import { AsCode } from "../parts/as-code.js";
import { isEnded, JobTable, KINDS } from "../parts/job-row.js";
import { useLiveJobs } from "../parts/live-jobs.js";
import { PageLinks } from "../parts/pages.js";
import { Empty, Shown } from "../parts/states.js";
import { goTo, link } from "../router.js";
import { useClock } from "../state.js";

const LIMIT = 50;
const STATES = ["queued", "running", "succeeded", "failed", "cancelled"];

/** @param {{ query: URLSearchParams }} props */
export function Jobs({ query }) {
  const filters = Object.fromEntries([...query].filter(([name, value]) => (name === "kind" ? KINDS[value] : name === "state" && STATES.includes(value))));
  const after = query.get("after");
  const requested = new URLSearchParams(after ? { ...filters, after } : filters).toString();
  const belongs = (/** @type {any} */ job) => Object.entries(filters).every(([name, value]) => job[name] === value);
  const jobs = useLiveJobs(requested, LIMIT, belongs);
  const path = `v1/jobs?${requested ? `${requested}&` : ""}limit=${LIMIT}`;
  const choose = (/** @type {string} */ name) => (/** @type {any} */ event) => {
    const { [name]: _, ...others } = filters;
    goTo(link(["jobs"], event.currentTarget.value ? { ...others, [name]: event.currentTarget.value } : others));
  };
  const given = Object.entries(filters).map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(", ");
  return html`
    <h1>Jobs</h1>
    <div class="filters">
      <label>Kind <select value=${filters.kind ?? ""} onChange=${choose("kind")}><option value="">all</option>
        ${Object.entries(KINDS).map(([kind, name]) => html`<option value=${kind}>${name}</option>`)}</select></label>
      <label>State <select value=${filters.state ?? ""} onChange=${choose("state")}><option value="">all</option>
        ${STATES.map((state) => html`<option>${state}</option>`)}</select></label>
    </div>
    <${Shown} of=${jobs} what="jobs">${(/** @type {any} */ page) =>
      page.items.length ? html`<${List} jobs=${page.items} /><${PageLinks} parts=${["jobs"]} query=${query} page=${page} />` : html`<${Empty} title="No jobs"><p>Jobs train, evaluate, promote and predict whole datasets.</p><//>`}<//>
    <${AsCode} path=${path} python=${[`for job in service.jobs.all(${given}):`, "    print(job.kind, job.model, job.state)"]} />
  `;
}

/** @param {{ jobs: any[] }} props */
function List({ jobs }) {
  const running = jobs.filter((job) => !isEnded(job)).length;
  const now = useClock(running > 0);
  return html`<p class="hidden" role="status">${counted(running, "job")} not ended</p>
    <${JobTable} jobs=${jobs} now=${now} caption="Jobs" />`;
}
