/** Predictions of a version for a whole dataset: choice, start, and those of before. */

import { useState } from "../vendor/hooks.js";
import { post } from "../api.js";
import { html } from "../html.js";
import { AsCode } from "../parts/as-code.js";
import { BatchOptions } from "../parts/batch-options.js";
import { DatasetChooser, ModelChooser, VersionChooser, versionOf } from "../parts/chooser.js";
import { isEnded, JobTable } from "../parts/job-row.js";
import { useLiveJobs } from "../parts/live-jobs.js";
import { Needs } from "../parts/needs.js";
import { Failure, Shown } from "../parts/states.js";
import { goTo, link, setQuery } from "../router.js";
import { useAction, useClock } from "../state.js";

const PATH = "v1/batch-predictions";
const JOBS = 8;

/** @param {{ query: URLSearchParams }} props */
export function Batch({ query }) {
  return html`
    <h1>Predict a dataset</h1>
    <p class="note">A worker predicts each row of a dataset and writes a file to download, however many rows there are.</p>
    <${Form} query=${query} />
    <${Recent} />
  `;
}

/** @param {{ query: URLSearchParams }} props */
function Form({ query }) {
  const [values, setValues] = useState({ model: query.get("model") ?? "", version: query.get("version") ?? "", dataset: query.get("dataset") ?? "" });
  const [options, setOptions] = useState(/** @type {Record<string, any>} */ ({}));
  const change = (/** @type {Record<string, string>} */ some) => {
    const changed = { ...values, ...some };
    setValues(changed);
    setQuery(Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== "")));
  };
  const { model, version, dataset } = values;
  const body = { model, ...(version && { version: versionOf(version) }), dataset_id: dataset, ...options };
  const action = useAction(async () => {
    const job = await post(PATH, body);
    goTo(link(["jobs", "prediction", job.id]));
  });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    action.start();
  };
  return html`
    <form class="stack" onSubmit=${submit}>
      <div class="choices">
        <${ModelChooser} value=${model} onChange=${(/** @type {string} */ name) => change({ model: name, version: "" })} />
        ${model && html`<${VersionChooser} model=${model} value=${version} onChange=${(/** @type {string} */ chosen) => change({ version: chosen })} />`}
        <${DatasetChooser} value=${dataset} onChange=${(/** @type {string} */ id) => {
          change({ dataset: id });
          setOptions(({ keep: _, ...others }) => others);
        }} />
      </div>
      ${dataset && html`<${BatchOptions} key=${dataset} dataset=${dataset} options=${options} onChange=${setOptions} />`}
      <${Needs} scopes=${["predict", "train"]}><div class="actions"><button class="primary" disabled=${action.isBusy || !model || !dataset}>Predict</button></div><//>
    </form>
    ${action.problem && html`<${Failure} problem=${action.problem} />`}
    ${model && dataset && html`<${Code} body=${body} options=${options} />`}
  `;
}

/** @param {{ body: any, options: Record<string, any> }} props */
function Code({ body, options }) {
  const named = Object.entries({ ...(body.version && { version: body.version }), ...options }).map(([name, value]) => `, ${name}=${JSON.stringify(value)}`).join("");
  const file = JSON.stringify(`predictions.${options.format ?? "csv"}`);
  return html`<${AsCode} path=${PATH} body=${body} imports=${["from pathlib import Path"]} python=${[
    `job = service.batch_predictions.submit(${JSON.stringify(body.model)}, ${JSON.stringify(body.dataset_id)}${named})`,
    "service.batch_predictions.wait(job.id)",
    `print(service.batch_predictions.download(job.id, Path(${file})))`,
  ]} />`;
}

function Recent() {
  const jobs = useLiveJobs("kind=prediction", JOBS, (job) => job.kind === "prediction");
  const now = useClock(jobs.data?.items.some((/** @type {any} */ job) => !isEnded(job)) ?? false);
  return html`<section>
    <div class="title"><h2>Newest batch predictions</h2><a href=${link(["jobs"], { kind: "prediction" })}>All batch predictions</a></div>
    <${Shown} of=${jobs} what="batch predictions">${(/** @type {any} */ page) => page.items.length
      ? html`<${JobTable} jobs=${page.items} now=${now} caption="Newest batch predictions" />`
      : html`<p class="note">None yet.</p>`}<//>
  </section>`;
}
