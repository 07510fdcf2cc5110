/** Choices of datasets, models and versions, of which there may be more than a list can show. */

import { useState } from "../vendor/hooks.js";
import { counted } from "../format.js";
import { html } from "../html.js";
import { useResource } from "../state.js";
import { Failure } from "./states.js";

const SHOWN = 50;

/** @typedef {{ value: string, text: string }} Choice */

/**
 * A select of the items of a list, page by page; what is chosen is always among them: `one` is the path of an item.
 * @param {{ id: string, label: string, path: string, choice: (item: any) => Choice, value: string, one?: (value: string) => string,
 *   first?: Choice[], onChange: (value: string) => void }} props
 */
function Paged({ id, label, path, choice, value, one, first = [], onChange }) {
  const [after, setAfter] = useState("");
  const items = useResource(`${path}?limit=${SHOWN}${after && `&after=${encodeURIComponent(after)}`}`);
  const choices = [...first, ...(items.data?.items ?? []).map(choice)];
  const isMissing = value !== "" && !choices.some((each) => each.value === value);
  const chosen = useResource(isMissing && items.data && one ? one(value) : null);
  const all = isMissing ? [chosen.data ? choice(chosen.data) : { value, text: value }, ...choices] : choices;
  const isPaged = after || items.data?.after;
  return html`<div class="field">
    <label for=${id}>${label}</label>
    <div class="choice">
      <select id=${id} required value=${value} onChange=${(/** @type {any} */ event) => onChange(event.currentTarget.value)}>
        <option value="" disabled>${items.data ? (all.length ? "Choose" : "There is none yet") : "Loading"}</option>
        ${all.map((each) => html`<option key=${each.value} value=${each.value}>${each.text}</option>`)}
      </select>
      ${isPaged && html`<button type="button" disabled=${!items.data} onClick=${() => setAfter(items.data.after ?? "")}>
        ${items.data?.after || !items.data ? "Older" : "Newest"}<span class="hidden"> choices of ${label}</span></button>`}
    </div>
    ${items.error && html`<${Failure} problem=${items.error} retry=${items.reload} />`}
  </div>`;
}

/** @param {any} dataset @returns {Choice} */
const ofDataset = (dataset) => ({ value: dataset.id, text: `${dataset.name}, ${counted(dataset.rows, "row")}` });

/** @param {{ value: string, label?: string, onChange: (id: string) => void }} props */
export function DatasetChooser({ value, label = "Dataset", onChange }) {
  return html`<${Paged} id="dataset" label=${label} path="v1/datasets" choice=${ofDataset} value=${value}
    one=${(/** @type {string} */ id) => `v1/datasets/${encodeURIComponent(id)}`} onChange=${onChange} />`;
}

/** @param {{ value: string, onChange: (name: string) => void }} props */
export function ModelChooser({ value, onChange }) {
  const choice = (/** @type {any} */ model) => ({ value: model.name, text: model.target ? `${model.name}, predicts ${model.target}` : model.name });
  return html`<${Paged} id="model" label="Model" path="v1/models" choice=${choice} value=${value} onChange=${onChange} />`;
}

/**
 * A version of a model, by its number or by an alias; "" is the newest.
 * @param {{ model: string, value: string, onChange: (version: string) => void }} props
 */
export function VersionChooser({ model, value, onChange }) {
  const path = `v1/models/${encodeURIComponent(model)}`;
  const found = useResource(path);
  const aliases = Object.entries(found.data?.aliases ?? {}).map(([alias, number]) => ({ value: alias, text: `${alias} (now version ${number})` }));
  const first = [{ value: NEWEST, text: "the newest" }, ...aliases];
  const choice = (/** @type {any} */ version) => ({ value: String(version.version), text: `version ${version.version}` });
  return html`<${Paged} key=${model} id="version" label="Version" path=${`${path}/versions`} choice=${choice} value=${value || NEWEST} first=${first}
    onChange=${(/** @type {string} */ chosen) => onChange(chosen === NEWEST ? "" : chosen)} />`;
}

/** No alias begins with a star. */
const NEWEST = "*";

/** A version as the API takes it: numbers are numbers. @param {string} version */
export const versionOf = (version) => (/^\d+$/.test(version) ? Number(version) : version);
