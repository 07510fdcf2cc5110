/** The field of an input, with the range or the categories of the training data. */

import { cell, number } from "../format.js";
import { html } from "../html.js";
import { NumberInput } from "./number-input.js";

/** The median of a histogram by quantiles, or the most frequent category. @param {any} input */
export function initialValue(input) {
  if (input.kind === "boolean") return input.categories[0]?.label === "true" || input.categories[0]?.label === true;
  if (input.kind === "category") return input.categories[0]?.label ?? null;
  if (input.min === null) return null;
  const middle = input.edges[Math.floor((input.edges.length - 1) / 2)] ?? (input.min + input.max) / 2;
  return input.kind === "timestamp" ? cell(new Date(1000 * middle).toISOString()) : rounded(middle, input);
}

/** A point in time as the service writes it, to the second. @param {number} seconds */
const moment = (seconds) => new Date(1000 * seconds).toISOString().replace(/\.\d+Z$/, "Z");

/** A value with as many digits as the range needs. @param {number} value @param {any} input */
function rounded(value, input) {
  const digits = Math.max(0, 3 - Math.floor(Math.log10(input.max - input.min || 1)));
  return Number(value.toFixed(Math.min(digits, 20)));
}

/** @param {{ input: any, value: any, onChange: (value: unknown) => void }} props */
export function Field({ input, value, onChange }) {
  const id = `input-${input.name}`;
  const read = (/** @type {any} */ event) => event.currentTarget.value;
  if (input.kind === "boolean") {
    return html`<div class="field check"><label><input type="checkbox" checked=${value} onChange=${(/** @type {any} */ event) => onChange(event.currentTarget.checked)} /> <span class="name">${input.name}</span></label></div>`;
  }
  if (input.kind === "category") {
    return html`<div class="field"><label for=${id} class="name">${input.name}</label>
      <select id=${id} value=${value} onChange=${(/** @type {Event} */ event) => onChange(read(event))}>
        ${input.categories.map((/** @type {any} */ one) => html`<option>${one.label}</option>`)}
      </select></div>`;
  }
  if (input.kind === "timestamp" || input.min === null) {
    return html`<div class="field"><label for=${id} class="name">${input.name}</label>
      <input id=${id} value=${value ?? ""} onChange=${(/** @type {Event} */ event) => onChange(read(event) || null)} />
      ${input.min !== null && html`<p class="note">${cell(moment(input.min))} to ${cell(moment(input.max))} in the data</p>`}</div>`;
  }
  const change = (/** @type {Event} */ event) => onChange(Number(read(event)));
  const step = 10 ** Math.floor(Math.log10((input.max - input.min || 1) / 200));
  return html`<div class="field"><label for=${id} class="name">${input.name}</label>
    <div class="slider">
      <input type="range" aria-label=${`${input.name}, slider`} min=${input.min} max=${input.max} step=${step} value=${value} onInput=${change} />
      <${NumberInput} id=${id} value=${value} onChange=${(/** @type {number | undefined} */ typed) => typed !== undefined && onChange(typed)} />
    </div>
    <p class="note">${number(input.min)} to ${number(input.max)} in the data</p></div>`;
}
