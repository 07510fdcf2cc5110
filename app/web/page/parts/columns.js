/** Columns of a dataset: kind, missing values, range or categories. */

import { useState } from "../vendor/hooks.js";
import { cell, count, number, percent } from "../format.js";
import { html } from "../html.js";
import { readingText } from "./reading.js";

const SHOWN = 100;
const KINDS = ["number", "boolean", "category", "timestamp"];

/** @param {{ columns: any[], rows: number, kinds: Record<string, string>, onKind?: (name: string, kind: string) => void }} props */
export function Columns({ columns, rows, kinds, onKind }) {
  const [isWhole, setWhole] = useState(columns.length <= SHOWN);
  const shown = isWhole ? columns : columns.slice(0, SHOWN);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Columns"><table>
    <caption class="hidden">Columns</caption>
    <thead><tr>
      <th scope="col">Column</th><th scope="col">Kind</th><th scope="col" class="right">Missing</th>
      <th scope="col" class="right">Distinct</th><th scope="col">Values</th>
    </tr></thead>
    <tbody>${shown.map((column) => html`<tr key=${column.name}>
      <th scope="row" class="name">${column.name}</th>
      <td>${onKind ? html`<${Kind} column=${column} kind=${kinds[column.name]} onKind=${onKind} />` : column.kind}
        ${column.reading && html`<div class="note">${readingText(column)}</div>`}</td>
      <td class="right">${column.missing ? `${count(column.missing)} (${percent(column.missing / rows)})` : "0"}</td>
      <td class="right">${column.distinct === null ? "many" : count(column.distinct)}</td>
      <td class="name">${values(column)}</td>
    </tr>`)}</tbody>
  </table></div>
  ${!isWhole && html`<p><button type="button" onClick=${() => setWhole(true)}>Show all ${count(columns.length)} columns</button></p>`}`;
}

/** @param {{ column: any, kind?: string, onKind: (name: string, kind: string) => void }} props */
function Kind({ column, kind, onKind }) {
  const change = (/** @type {any} */ event) => onKind(column.name, event.currentTarget.value);
  return html`<select aria-label=${`Kind of ${column.name}`} value=${kind ?? column.kind} onChange=${change}>
    ${KINDS.map((one) => html`<option>${one}</option>`)}
  </select>`;
}

/** The range of a column, or its most frequent categories. @param {any} column */
export function values(column) {
  if (column.kind === "category") {
    const named = column.categories.slice(0, 3).map((/** @type {any} */ one) => `${one.label} (${count(one.count)})`).join(", ");
    if (!named) return "many different texts";
    return column.distinct === null || column.distinct > 3 ? `${named}, …` : named;
  }
  if (column.kind === "boolean") return column.mean === null ? "" : `${percent(column.mean)} true`;
  if (column.min === null) return "";
  if (column.kind === "timestamp") return `${cell(column.min)} to ${cell(column.max)}`;
  return `${number(column.min)} to ${number(column.max)}, mean ${number(column.mean)}`;
}
