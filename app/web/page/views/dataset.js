/** A dataset: its columns with their kinds and ranges, its first rows, and what to do with it. */

import { useState } from "../vendor/hooks.js";
import { readingPairs, request, upload } from "../api.js";
import { columnFormat, count, counted, moment } from "../format.js";
import { html } from "../html.js";
import { AsCode } from "../parts/as-code.js";
import { Columns } from "../parts/columns.js";
import { recent } from "../parts/drop-zone.js";
import { Later } from "../parts/later.js";
import { usePermission } from "../parts/needs.js";
import { ReadAgain } from "../parts/reading.js";
import { Failure, Shown } from "../parts/states.js";
import { goTo, link } from "../router.js";
import { useAction, useResource } from "../state.js";

const removal = async () => (await import("../parts/removal.js")).Removal;

const PREVIEW_ROWS = 20;
const PREVIEW_COLUMNS = 50;

/** @param {{ id: string }} props */
export function DatasetView({ id }) {
  const dataset = useResource(`v1/datasets/${encodeURIComponent(id)}`);
  return html`<${Shown} of=${dataset} what="the dataset" title="Dataset">${(/** @type {any} */ data) => html`<${Page} dataset=${data} />`}<//>`;
}

/** @param {{ dataset: any }} props */
function Page({ dataset }) {
  const [kinds, setKinds] = useState(/** @type {Record<string, string>} */ ({}));
  const { file, reading = {} } = recent.get(dataset.id) ?? {};
  const [mayPredict, mayTrain] = [usePermission("predict", "train"), usePermission("train")];
  const change = (/** @type {string} */ name, /** @type {string} */ kind) => setKinds((last) => ({ ...last, [name]: kind }));
  return html`
    <div class="title">
      <h1 class="name">${dataset.name}</h1>
      <div class="actions">${mayPredict && html`<a class="button" href=${link(["batch"], { dataset: dataset.id })}>Predict it</a>`}
        ${mayTrain && html`<a class="button primary" href=${link(["train", dataset.id])}>Train a model</a>`}</div>
    </div>
    <p class="note">${counted(dataset.rows, "row")}, ${counted(dataset.columns.length, "column")}, uploaded ${moment(dataset.created_at)}</p>
    <section><h2>Columns</h2>
      <${Columns} columns=${dataset.columns} rows=${dataset.rows} kinds=${kinds} onKind=${file && change} />
      ${file && html`<${Again} dataset=${dataset} file=${file} reading=${reading} kinds=${kinds} />`}
    </section>
    <section><h2>First rows</h2><${Preview} dataset=${dataset} /></section>
    <${Later} what="actions" load=${removal} path=${`v1/datasets/${dataset.id}`} title="Delete the dataset" onDone=${() => goTo(link(["datasets"]))}
      question=${`Delete the dataset ${dataset.name}? Versions trained on it stay.`} />
    ${file ? html`<${UploadCode} file=${file} reading=${reading} />` : html`<${AsCode} path=${`v1/datasets/${dataset.id}`}
      python=${[`dataset = service.dataset(${JSON.stringify(dataset.id)})`, "print(dataset.name, dataset.rows)"]} />`}
  `;
}

/** @param {{ file: File, reading: import("../parts/reading.js").Reading }} props */
function UploadCode({ file, reading }) {
  const query = new URLSearchParams(readingPairs(reading));
  const options = Object.entries(reading).map(([name, value]) => `, ${name}=${pythonOf(name, value)}`).join("");
  const python = [`dataset = service.upload(Path(${JSON.stringify(file.name)})${options})`, "print(dataset.id)"];
  return html`<${AsCode} path=${query.size > 0 ? `v1/datasets?${query}` : "v1/datasets"} file=${file.name} imports=${["from pathlib import Path"]} python=${python} />`;
}

/** An option of an upload as Python has it. @param {string} name @param {string | string[]} value */
function pythonOf(name, value) {
  if (name === "header") return value === "true" ? "True" : "False";
  return name === "skip_rows" ? value : JSON.stringify(value);
}

/**
 * Other kinds of columns or another reading: the file is stored again with them, in place of the first.
 * @param {{ dataset: any, file: File, reading: import("../parts/reading.js").Reading, kinds: Record<string, string> }} props
 */
function Again({ dataset, file, reading, kinds }) {
  const inferred = new Map(dataset.columns.map((/** @type {any} */ column) => [column.name, column.kind]));
  const changed = Object.entries(kinds).filter(([name, kind]) => inferred.get(name) !== kind);
  const action = useAction(async (/** @type {import("../parts/reading.js").Reading} */ other) => {
    const declared = other === reading ? Object.fromEntries([...inferred, ...changed]) : {};
    const stored = await upload(file, { kinds: declared, reading: other });
    recent.set(stored.id, { file, reading: other });
    await request("DELETE", `v1/datasets/${dataset.id}`).catch(() => {});
    goTo(link(["datasets", stored.id]));
  });
  return html`${changed.length === 0
    ? html`<p class="note">A kind is wrong? Choose another one, before you train.</p>
      <${ReadAgain} reading=${reading} isBusy=${action.isBusy} onRead=${action.start} />`
    : html`<p class="actions">
      <button type="button" class="primary" disabled=${action.isBusy} onClick=${() => action.start(reading)}>Store with ${counted(changed.length, "other kind")}</button>
    </p>`}${action.problem && html`<${Failure} problem=${action.problem} />`}`;
}

/** @param {{ dataset: any }} props */
function Preview({ dataset }) {
  const rows = useResource(`v1/datasets/${dataset.id}/rows?limit=${PREVIEW_ROWS}`);
  const names = dataset.columns.slice(0, PREVIEW_COLUMNS).map((/** @type {any} */ column) => column.name);
  const numeric = new Set(dataset.columns.filter((/** @type {any} */ column) => column.kind === "number").map((/** @type {any} */ column) => column.name));
  const formats = (/** @type {any[]} */ items) => Object.fromEntries(names.map((/** @type {string} */ name) => [name, columnFormat(items.map((row) => row.cells[name]))]));
  const side = (/** @type {string} */ name) => (numeric.has(name) ? "right" : "name");
  return html`<${Shown} of=${rows} what="rows">${(/** @type {any} */ page) => {
    const shown = formats(page.items);
    return html`<div class="scroll" tabindex="0" role="region" aria-label="First rows"><table class="data">
      <caption class="hidden">The first rows</caption>
      <thead><tr><th scope="col" class="right">Row</th>${names.map((/** @type {string} */ name) => html`<th scope="col" class=${side(name)}>${name}</th>`)}</tr></thead>
      <tbody>${page.items.map((/** @type {any} */ row) => html`<tr key=${row.row}>
        <th scope="row" class="right">${count(row.row + 1)}</th>${names.map((/** @type {string} */ name) => html`<td class=${side(name)}>${shown[name](row.cells[name])}</td>`)}
      </tr>`)}</tbody>
    </table></div>
    ${dataset.columns.length > PREVIEW_COLUMNS && html`<p class="note">The first ${PREVIEW_COLUMNS} of ${count(dataset.columns.length)} columns.</p>`}`;
  }}<//>`;
}
