/** The first view: jobs that run and that have ended, the newest models; in an empty service, how to begin. */

import { useEffect, useRef } from "../vendor/hooks.js";
import { html } from "../html.js";
import { DropZone } from "../parts/drop-zone.js";
import { Example } from "../parts/example.js";
import { isEnded, JobTable } from "../parts/job-row.js";
import { useLiveJobs } from "../parts/live-jobs.js";
import { ModelTable } from "../parts/model-table.js";
import { Empty, Shown } from "../parts/states.js";
import { goTo, link } from "../router.js";
import { useClock, useResource } from "../state.js";

const JOBS = 8;
const MODELS = 6;

export function Home() {
  const jobs = useLiveJobs("counts=true", JOBS);
  const models = useResource(`v1/models?limit=${MODELS}`);
  const datasets = useResource("v1/datasets?limit=1");
  const all = [jobs, models, datasets];
  const ended = jobs.data?.items.filter(isEnded).length ?? 0;
  const seen = useRef(ended);
  useEffect(() => {
    if (ended > seen.current) models.reload();
    seen.current = ended;
  }, [ended]);
  const both = {
    data: all.every((one) => one.data) ? { jobs: jobs.data, models: models.data, datasets: datasets.data } : null,
    error: all.find((one) => one.error)?.error ?? null,
    reload: () => all.forEach((one) => one.reload()),
    set: () => {},
  };
  return html`<${Shown} of=${both} what="jobs and models" title="Home">${(/** @type {any} */ data) => {
    const isEmpty = Object.values(data).every((page) => page.items.length === 0);
    return isEmpty ? html`<${Beginning} />` : html`<${Overview} ...${data} />`;
  }}<//>`;
}

const toDataset = (/** @type {any} */ dataset) => goTo(link(["datasets", dataset.id]));

function Beginning() {
  return html`<${Empty} isView title="Predict a column of your table, with error bars">
    <p>Upload a table and choose the column to predict. The service trains a model in the background; then it predicts each row
    with a number and its error bar, or with the probability of each class.</p>
    <${DropZone} onUploaded=${toDataset} />
    <${Example}><p>No table at hand? The example has 150 made-up days of an ice cream kiosk.</p><//>
  <//>`;
}

/** @param {{ jobs: any, models: any }} props */
function Overview({ jobs, models }) {
  const running = jobs.items.filter((/** @type {any} */ job) => !isEnded(job));
  const ended = jobs.items.filter(isEnded);
  const now = useClock(running.length > 0);
  return html`
    <h1>Home</h1>
    <${DropZone} isCompact onUploaded=${toDataset} />
    ${running.length > 0 && html`<section><h2>Running</h2><${JobTable} jobs=${running} now=${now} caption="Running jobs" /></section>`}
    <section>
      <div class="title"><h2>Newest models</h2><a href=${link(["models"])}>All models</a></div>
      ${models.items.length ? html`<${ModelTable} models=${models.items} />` : html`<p class="note">No model yet: choose a <a href=${link(["datasets"])}>dataset</a> and train one.</p>`}
    </section>
    ${ended.length > 0 && html`<section>
      <div class="title"><h2>Finished jobs</h2><a href=${link(["jobs"])}>All jobs</a></div>
      <${JobTable} jobs=${ended} now=${now} caption="Finished jobs" />
    </section>`}
  `;
}
