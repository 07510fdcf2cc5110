/** How a file is read: what was read of its columns, the readings that a refusal names, and options for another one. */

import { useState } from "../vendor/hooks.js";
import { count } from "../format.js";
import { html } from "../html.js";

/** Options of an upload by the names of its query. @typedef {Record<string, string | string[]>} Reading */

const HEADER = /** @type {Record<string, string>} */ ({ true: "The first line has the names", false: "The first line is a row of data" });
const ENCODINGS = ["utf-8", "utf-16", "cp1252", "latin-1"];

/** What the service read beside the kind of a column, in words; empty where there is nothing to state. @param {any} column @returns {string} */
export function readingText({ reading }) {
  if (!reading) return "";
  const { form, date_format, missing_texts = [], given_name, is_index, has_header } = reading;
  return [
    form && `numbers as ${form.prefix}1${form.thousands ?? ""}234${form.decimal}5${form.suffix}`,
    date_format && `dates as ${date_format}`,
    missing_texts.length > 0 && `missing: ${missing_texts.map((/** @type {any} */ one) => `${one.text} (${count(one.count)})`).join(", ")}`,
    given_name !== undefined && `“${given_name}” in the file`,
    is_index && "an index of pandas, no input by default",
    has_header === false && "the first line is a row of data",
  ].filter(Boolean).join("; ");
}

/** The readings of a cell for which a file was refused. @param {any} problem @returns {{ option: string, value: string, meaning: string }[]} */
export const readingsIn = (problem) => problem?.errors?.find((/** @type {any} */ one) => one.ambiguity)?.ambiguity.readings ?? [];

/** @param {{ option: string, value: string, meaning: string }} one */
const readingName = ({ option, value, meaning }) => (option === "header" ? HEADER[value] : meaning);

/**
 * A file that was refused, or read otherwise than it was meant: the readings that the refusal names, and all options.
 * @param {{ reading: Reading, problem?: any, isBusy: boolean, onRead: (reading: Reading) => void }} props
 */
export function ReadAgain({ reading, problem, isBusy, onRead }) {
  const [options, setOptions] = useState(reading);
  const set = (/** @type {string} */ name) => (/** @type {any} */ event) => setOptions((last) => ({ ...last, [name]: event.currentTarget.value }));
  const submit = (/** @type {any} */ event) => {
    event.preventDefault();
    const { missing_values: missing = "", ...others } = options;
    const values = [missing].flat().join(",").split(",").map((one) => one.trim()).filter(Boolean);
    onRead({ ...Object.fromEntries(Object.entries(others).filter(([, value]) => value !== "")), ...(values.length > 0 && { missing_values: values }) });
  };
  return html`<div class="again"><p class="actions">${readingsIn(problem).map((one) => html`<button type="button" key=${`${one.option} ${one.value}`} disabled=${isBusy}
      onClick=${() => onRead({ ...reading, [one.option]: one.value })}>${readingName(one)}</button>`)}</p>
    <details class="options"><summary>Read it otherwise</summary><form onSubmit=${submit}>
      <div class="field"><label for="reading-header">First line</label>
        <select id="reading-header" value=${options.header ?? ""} onChange=${set("header")}><option value="">detected</option>
          ${Object.entries(HEADER).map(([value, name]) => html`<option key=${value} value=${value}>${name}</option>`)}</select></div>
      <div class="field"><label for="reading-missing">Missing values, with commas between them</label>
        <input id="reading-missing" value=${[options.missing_values ?? ""].flat().join(",")} placeholder="NA, ?, -" onInput=${set("missing_values")} /></div>
      <div class="field"><label for="reading-encoding">Encoding of a CSV</label>
        <select id="reading-encoding" value=${options.encoding ?? ""} onChange=${set("encoding")}><option value="">detected</option>
          ${ENCODINGS.map((one) => html`<option key=${one}>${one}</option>`)}</select></div>
      <div class="field"><label for="reading-skip">Rows above the header</label>
        <input id="reading-skip" type="number" min="0" value=${options.skip_rows ?? ""} onInput=${set("skip_rows")} /></div>
      <div class="field"><label for="reading-sheet">Sheet of a workbook</label>
        <input id="reading-sheet" value=${options.sheet ?? ""} placeholder="the first visible one" onInput=${set("sheet")} /></div>
      <button type="submit" class="primary" disabled=${isBusy}>Read it again</button>
    </form></details></div>`;
}
