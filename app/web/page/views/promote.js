/** The promotion of a version: an alias moves to it if it is better on a dataset. */

import { useState } from "../vendor/hooks.js";
import { post } from "../api.js";
import { html } from "../html.js";
import { AsCode } from "../parts/as-code.js";
import { DatasetChooser, versionOf } from "../parts/chooser.js";
import { Needs } from "../parts/needs.js";
import { NumberInput } from "../parts/number-input.js";
import { Failure, Shown } from "../parts/states.js";
import { goTo, link, setQuery } from "../router.js";
import { useAction, useResource } from "../state.js";

/** @type {Record<string, string[]>} */
const METRICS = { regression: ["rmse", "mae", "nll"], classification: ["log_loss", "brier", "error"] };

/** @param {{ name: string, number: string, query: URLSearchParams }} props */
export function Promote({ name, number, query }) {
  const model = useResource(`v1/models/${encodeURIComponent(name)}`);
  return html`
    <h1>Promote a version</h1>
    <p class="note">An alias moves to <a class="name" href=${link(["models", name, "versions", number])}>${name}, version ${number}</a> if it is better than the version
      to which the alias points now, on rows that neither was trained on. With fewer than 30 such rows it stays.</p>
    <${Shown} of=${model} what="the model">${(/** @type {any} */ data) => html`<${Form} model=${data} number=${number} query=${query} />`}<//>
  `;
}

/** @typedef {{ alias: string, dataset: string, metric: string, margin: string, criterion: string, groups: string }} Values */

/** @param {URLSearchParams} query @param {any} model @returns {Values} */
function initial(query, model) {
  const [first = ""] = Object.keys(model.aliases);
  const read = (/** @type {string} */ name) => query.get(name) ?? "";
  return { alias: query.get("alias") ?? first, dataset: read("dataset"), metric: read("metric"), margin: read("margin"), criterion: read("criterion"), groups: read("groups") };
}

/** @param {{ model: any, number: string, query: URLSearchParams }} props */
function Form({ model, number, query }) {
  const [values, setValues] = useState(() => initial(query, model));
  const { alias, dataset, metric, margin, criterion, groups } = values;
  const change = (/** @type {keyof Values} */ name) => (/** @type {unknown} */ value) => {
    const changed = { ...values, [name]: String(value ?? "") };
    setValues(changed);
    setQuery(Object.fromEntries(Object.entries(changed).filter(([, given]) => given !== "")));
  };
  const version = versionOf(number);
  const options = { ...(metric && { metric }), ...(margin && { margin: Number(margin) }), ...(criterion && { criterion }), ...(groups && { groups }) };
  const body = { version, dataset_id: dataset, ...options };
  const path = `v1/models/${encodeURIComponent(model.name)}/aliases/${encodeURIComponent(alias)}/promotions`;
  const action = useAction(async () => {
    const job = await post(path, body);
    goTo(link(["jobs", "promotion", job.id]));
  });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    action.start();
  };
  const named = Object.entries(options).map(([option, value]) => `, ${option}=${JSON.stringify(value)}`).join("");
  return html`
    <form class="stack" onSubmit=${submit}>
      <${Alias} model=${model} alias=${alias} onChange=${change("alias")} />
      <${DatasetChooser} value=${dataset} onChange=${change("dataset")} />
      <${Options} metrics=${METRICS[model.task] ?? []} values=${values} change=${change} />
      <${Needs} scopes=${["train"]}><div class="actions"><button class="primary" disabled=${action.isBusy || !dataset || !alias}>Compare, and move the alias if it is better</button></div><//>
    </form>
    ${action.problem && html`<${Failure} problem=${action.problem} />`}
    ${dataset && alias && html`<${AsCode} path=${path} body=${body} python=${[
      `job = service.promotions.submit(${JSON.stringify(model.name)}, ${JSON.stringify(alias)}, ${JSON.stringify(version)}, ${JSON.stringify(dataset)}${named})`,
      "print(service.promotions.wait(job.id).result.reason)",
    ]} />`}
  `;
}

/** @param {{ model: any, alias: string, onChange: (alias: string) => void }} props */
function Alias({ model, alias, onChange }) {
  const champion = model.aliases[alias];
  const now = champion ? `Points to version ${champion} now.` : alias ? "There is no such alias yet: it is created, whatever the figures are." : "A letter, then letters, digits, dots, dashes and underscores.";
  return html`<div class="field">
    <label for="alias">Alias</label>
    <input id="alias" required list="aliases" autocomplete="off" spellcheck=${false} aria-describedby="alias-help" value=${alias}
      onInput=${(/** @type {any} */ event) => onChange(event.currentTarget.value.trim())} />
    <datalist id="aliases">${Object.keys(model.aliases).map((name) => html`<option value=${name} />`)}</datalist>
    <p id="alias-help" class="note">${now}</p>
  </div>`;
}

/** @param {{ metrics: string[], values: Values, change: (name: keyof Values) => (value: unknown) => void }} props */
function Options({ metrics, values, change }) {
  const choose = (/** @type {keyof Values} */ name) => (/** @type {any} */ event) => change(name)(event.currentTarget.value);
  const isOpen = Boolean(values.metric || values.margin || values.criterion || values.groups);
  return html`<details class="options" open=${isOpen}><summary>Options: the metric, the margin, groups of rows</summary>
    <div class="option"><div class="field"><label for="metric">Metric</label>
      <select id="metric" aria-describedby="metric-help" value=${values.metric} onChange=${choose("metric")}><option value="">${`default: ${metrics[0] ?? ""}`}</option>${metrics.slice(1).map((one) => html`<option>${one}</option>`)}</select></div>
      <p class="note" id="metric-help">What is compared: less is better.</p></div>
    <div class="option"><div class="field"><label for="margin">Margin</label>
      <${NumberInput} id="margin" help="margin-help" placeholder="default: 0" value=${values.margin === "" ? undefined : Number(values.margin)} onChange=${change("margin")} /></div>
      <p class="note" id="margin-help">The improvement that has to be exceeded, in units of the metric.</p></div>
    <div class="option"><div class="field"><label for="criterion">Criterion</label>
      <select id="criterion" aria-describedby="criterion-help" value=${values.criterion} onChange=${choose("criterion")}><option value="">default: interval</option><option>estimate</option></select></div>
      <p class="note" id="criterion-help">What has to exceed the margin: the lower end of the improvement's 95\u00a0% interval, or the estimate.</p></div>
    <div class="option"><div class="field"><label for="groups">Groups</label>
      <input id="groups" aria-describedby="groups-help" placeholder="default: by the split" value=${values.groups} onInput=${choose("groups")} /></div>
      <p class="note" id="groups-help">The column whose values identify rows that belong together, such as a patient or a machine.</p></div>
  </details>`;
}
