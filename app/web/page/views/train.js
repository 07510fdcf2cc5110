/** The training of a model on a dataset: the target first, everything else is chosen by the service unless it is opened. */

import { useState } from "../vendor/hooks.js";
import { post } from "../api.js";
import { count, counted } from "../format.js";
import { html } from "../html.js";
import { python } from "../code.js";
import { AsCode } from "../parts/as-code.js";
import { values } from "../parts/columns.js";
import { Needs } from "../parts/needs.js";
import { Inputs, Options } from "../parts/training-options.js";
import { Failure, Shown } from "../parts/states.js";
import { goTo, link, setQuery } from "../router.js";
import { useAction, useResource } from "../state.js";

const PATH = "v1/training-jobs";

/** @param {{ id: string, query: URLSearchParams }} props */
export function Train({ id, query }) {
  const dataset = useResource(`v1/datasets/${encodeURIComponent(id)}`);
  return html`<${Shown} of=${dataset} what="the dataset" title="Train a model">${(/** @type {any} */ data) => html`<${Form} dataset=${data} target=${query.get("target") ?? ""} />`}<//>`;
}

/** @param {{ dataset: any, target: string }} props */
function Form({ dataset, target: first }) {
  const [target, setTarget] = useState(first);
  const [isOpen, setOpen] = useState(false);
  const [options, setOptions] = useState(/** @type {Record<string, unknown>} */ ({}));
  const body = { dataset_id: dataset.id, target, ...options };
  const action = useAction(async () => {
    const job = await post(PATH, body);
    goTo(link(["jobs", "training", job.id]));
  });
  const setInputs = (/** @type {string[] | undefined} */ inputs) => setOptions(({ inputs: _, ...others }) => (inputs ? { ...others, inputs } : others));
  const choose = (/** @type {any} */ event) => {
    setTarget(event.currentTarget.value);
    setInputs(undefined);
    setQuery({ target: event.currentTarget.value });
  };
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    action.start();
  };
  const column = dataset.columns.find((/** @type {any} */ one) => one.name === target);
  return html`
    <h1>Train a model</h1>
    <p class="note">On <a class="name" href=${link(["datasets", dataset.id])}>${dataset.name}</a>, ${count(dataset.rows)} rows</p>
    <form onSubmit=${submit} class="stack">
      <${Target} columns=${dataset.columns} target=${target} column=${column} onChange=${choose} />
      <details class="options" onToggle=${(/** @type {any} */ event) => event.currentTarget.open && setOpen(true)}><summary>Options: by default, the service chooses</summary>
        ${isOpen && html`<${Inputs} columns=${dataset.columns} target=${target} inputs=${options.inputs} onChange=${setInputs} />`}
        ${isOpen && html`<${Options} values=${options} onChange=${setOptions} />`}
      </details>
      <${Needs} scopes=${["train"]}><div class="actions"><button class="primary" disabled=${action.isBusy || !column}>Train</button></div><//>
    </form>
    ${action.problem && html`<${Failure} problem=${action.problem} />`}
    ${column && html`<${AsCode} path=${PATH} body=${body} python=${[
      `job = service.trainings.submit(${python(body)})`,
      "print(service.trainings.wait(job.id).version)",
    ]} />`}
  `;
}

/** @param {{ columns: any[], target: string, column: any, onChange: (event: Event) => void }} props */
function Target({ columns, target, column, onChange }) {
  return html`<div class="field">
    <label for="target">Column to predict</label>
    <select id="target" required value=${target} onChange=${onChange} aria-describedby="target-help">
      <option value="" disabled>Choose a column</option>
      ${columns.map((one) => html`<option value=${one.name}>${one.name} (${one.kind})</option>`)}
    </select>
    <p id="target-help" class="note">${column ? inferred(column) : "Texts, booleans and two integers are classes; other numbers are quantities."}</p>
  </div>`;
}

/** What follows from the kind of a target. @param {any} column */
function inferred(column) {
  const range = values(column);
  const missing = column.missing ? ` ${counted(column.missing, "row")} without a value.` : "";
  if (column.kind === "number" && column.distinct !== 2) return `A quantity: ${range}.${missing}`;
  return column.distinct === null ? `${range}.${missing}` : `${count(column.distinct)} classes: ${range}.${missing}`;
}
