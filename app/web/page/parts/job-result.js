/** The request of a job that is no training, and its result: metrics, a promotion's figures, a file. */

import { ROOT } from "../api.js";
import { count, number, size } from "../format.js";
import { html } from "../html.js";
import { goTo, link } from "../router.js";
import { AsCode } from "./as-code.js";
import { FORMATS } from "./batch-options.js";
import { Confusion } from "./confusion.js";
import { DatasetLink } from "./dataset-link.js";
import { Interval } from "./interval.js";
import { flat, MetricTable } from "./metric-table.js";
import { Preview } from "./preview.js";
import { Removal } from "./removal.js";

/** @param {{ kind: string, path: string, job: any }} props */
export function JobResult({ kind, path, job }) {
  const { result } = job;
  return html`
    ${result && kind === "evaluation" && html`<${Evaluated} job=${job} />`}
    ${result && kind === "promotion" && html`<${Promoted} job=${job} />`}
    ${result && kind === "prediction" && html`<${Predicted} path=${path} job=${job} />`}
    <${Request} kind=${kind} job=${job} />
    ${kind === "prediction" && !["queued", "running"].includes(job.state) && html`<${Removal} path=${path} scopes=${["predict", "train"]} title="Delete the batch prediction"
      question=${`Delete this batch prediction of ${job.model} with its file?`} onDone=${() => goTo(link(["batch"]))} />`}
  `;
}

/** @param {{ kind: string, job: any }} props */
function Request({ kind, job }) {
  const version = (/** @type {number} */ at) => html`<a class="name" href=${link(["models", job.model, "versions", String(at)])}>${job.model}, version ${at}</a>`;
  const facts = [
    [kind === "promotion" ? "Challenger" : "Version", version(job.version.version)],
    kind === "promotion" && ["Champion", job.champion ? version(job.champion) : "none: the alias did not exist"],
    job.alias && ["Alias", html`<span class="name">${job.alias}</span>`],
    ["Dataset", html`<${DatasetLink} id=${job.dataset_id} />`],
    job.metric && ["Metric", job.metric],
    job.margin !== undefined && ["Margin", number(job.margin)],
    job.criterion && ["Criterion", job.criterion === "interval" ? "the lower end of the 95 % interval" : "the estimate"],
    job.groups && ["Groups", html`<span class="name">${job.groups}</span>`],
    job.format && ["Format", job.format],
    job.columns && ["Columns", html`<span class="name">${job.columns.slice(0, 50).join(", ")}</span>`],
    job.on_error && ["Rows without a prediction", job.on_error === "fail" ? "fail the job" : "have their reason in the column error"],
  ].filter(Boolean);
  return html`<section><h2>Request</h2>
    <dl class="facts">${facts.map((/** @type {any} */ [name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl></section>`;
}

/** Rows that were left out, and rows that were known, in words. @param {any} result */
function leftOut(result) {
  const { rows_without_target: targets, rows_not_predicted: unpredicted, rows_seen_in_training: seen } = result;
  const parts = [
    targets > 0 && `${count(targets)} rows without a target were left out.`,
    unpredicted > 0 && `${count(unpredicted)} rows could not be predicted and were left out.`,
    seen > 0 && `${count(seen)} of the rows were in the training: the version predicts these too well.`,
    seen === null && "The training data is gone: rows of it may be among these.",
  ];
  return parts.filter(Boolean).join(" ");
}

/** @param {{ job: any }} props */
function Evaluated({ job }) {
  const { result } = job;
  return html`<section><h2>Metrics</h2>
    ${leftOut(result) && html`<p class=${result.rows_seen_in_training ? "warning" : "note"}>${leftOut(result)}</p>`}
    <${MetricTable} caption="Metrics" columns=${[{ title: `Version ${job.version.version}`, metrics: flat(result) }]} /></section>
    ${result.diagnostics?.confusion && html`<${Confusion} diagnostics=${result.diagnostics} />`}`;
}

/** @param {{ job: any }} props */
function Promoted({ job }) {
  const { result, alias, version } = job;
  const moved = result.moved ? `The alias ${alias} points to version ${version.version} now.` : `The alias ${alias} was not moved.`;
  const columns = [
    ...(result.champion ? [{ title: `Champion, version ${job.champion}`, metrics: flat(result.champion) }] : []),
    { title: `Challenger, version ${version.version}`, metrics: flat(result.challenger) },
  ];
  return html`<p class=${`verdict ${result.moved ? "good" : "fair"}`}>${moved}</p>
    <p class="note">${result.reason}</p>
    ${result.improvement && html`<section><h2>Improvement</h2><${Interval} improvement=${result.improvement} margin=${job.margin} /></section>`}
    <section><h2>Metrics on the same rows</h2>
      ${result.rows_seen_in_training > 0 && html`<p class="note">${count(result.rows_seen_in_training)} rows that one of them was trained on were left out.</p>`}
      <${MetricTable} caption="Metrics on the same rows" columns=${columns} isCompared=${columns.length === 2} /></section>`;
}

/** @param {{ path: string, job: any }} props */
function Predicted({ path, job }) {
  const { result, format } = job;
  const file = `${path}/result`;
  const failed = result.rows_not_predicted;
  return html`<section><h2>Predictions</h2>
    <p class="actions"><a class="button primary" download href=${ROOT + file}>Download ${size(result.size)} of ${FORMATS[format] ?? format}</a>
      <span>${count(result.rows)} rows${failed ? html`, <span class="warning">${count(failed)} of them without a prediction</span>` : ""}</span></p>
    ${format === "csv" ? html`<${Preview} path=${file} rows=${result.rows} />` : html`<p class="note">The page shows the first rows of CSV files, and can't read ${FORMATS[format] ?? format}: download the file, or
      <a href=${link(["batch"], { model: job.model, version: String(job.version.version), dataset: job.dataset_id })}>predict the dataset again as CSV</a>.</p>`}
    <${AsCode} path=${file} imports=${["from pathlib import Path"]}
      python=${[`size = service.batch_predictions.download(${JSON.stringify(job.id)}, Path(${JSON.stringify(`predictions.${format}`)}))`, "print(size)"]} />
  </section>`;
}
