/** Options of a batch prediction: the format of its file, and the columns that it keeps. */

import { useState } from "../vendor/hooks.js";
import { count } from "../format.js";
import { html } from "../html.js";
import { useResource } from "../state.js";
import { NumberInput } from "./number-input.js";

/** @type {Record<string, string>} */
export const FORMATS = { csv: "CSV", parquet: "Parquet", arrow: "Arrow", feather: "Feather" };
const COLUMNS = 200;

/** @param {{ dataset: string, options: Record<string, any>, onChange: (options: Record<string, any>) => void }} props */
export function BatchOptions(props) {
  const [isOpen, setOpen] = useState(false);
  return html`<details class="options" onToggle=${(/** @type {any} */ event) => event.currentTarget.open && setOpen(true)}>
    <summary>Options: the format, columns to keep, the interval</summary>${isOpen && html`<${Options} ...${props} />`}
  </details>`;
}

/** @param {{ dataset: string, options: Record<string, any>, onChange: (options: Record<string, any>) => void }} props */
function Options({ dataset, options, onChange }) {
  const found = useResource(`v1/datasets/${encodeURIComponent(dataset)}`);
  const columns = (found.data?.columns ?? []).map((/** @type {any} */ column) => column.name);
  const set = (/** @type {string} */ name, /** @type {unknown} */ value) => {
    const { [name]: _, ...others } = options;
    onChange(value === undefined ? others : { ...others, [name]: value });
  };
  const chosen = (/** @type {string} */ name, /** @type {string} */ usual) => (/** @type {any} */ event) => set(name, event.currentTarget.value === usual ? undefined : event.currentTarget.value);
  const toggle = (/** @type {string} */ column) => {
    const kept = columns.filter((/** @type {string} */ one) => (one === column) !== (options.keep ?? []).includes(one));
    set("keep", kept.length ? kept : undefined);
  };
  return html`<div class="option"><div class="field"><label for="format">Format</label>
      <select id="format" aria-describedby="format-help" value=${options.format ?? "csv"} onChange=${chosen("format", "csv")}>${Object.entries(FORMATS).map(([value, title]) => html`<option value=${value}>${title}</option>`)}</select></div>
      <p class="note" id="format-help">The page shows the first rows of CSV files, and of no other format.</p></div>
    <div class="option"><div class="field"><label for="interval">Interval</label>
      <${NumberInput} id="interval" help="interval-help" placeholder="default: 0.95" value=${options.interval} onChange=${(/** @type {number | undefined} */ value) => set("interval", value)} /></div>
      <p class="note" id="interval-help">The probability between the columns lower and upper.</p></div>
    <div class="option"><div class="field"><label for="on-error">Rows that can't be predicted</label>
      <select id="on-error" value=${options.on_error ?? "per_row"} onChange=${chosen("on_error", "per_row")}><option value="per_row">have their reason in a column</option><option value="fail">fail the job</option></select></div></div>
    ${columns.length > 0 && html`<fieldset class="inputs"><legend>Columns to keep before the predictions</legend>
      ${columns.slice(0, COLUMNS).map((/** @type {string} */ column) => html`<label key=${column}><input type="checkbox" checked=${(options.keep ?? []).includes(column)} onChange=${() => toggle(column)} /> <span class="name">${column}</span></label>`)}
      ${columns.length > COLUMNS && html`<span class="note">The first ${COLUMNS} of ${count(columns.length)} columns.</span>`}</fieldset>`}`;
}
