/** The first rows of a CSV file that the service has made. */

import { useEffect, useState } from "../vendor/hooks.js";
import { startOf } from "../api.js";
import { columnFormat, count } from "../format.js";
import { html } from "../html.js";
import { Failure, Loading } from "./states.js";

const BYTES = 65536;
const ROWS = 20;
const COLUMNS = 50;

/**
 * The records of a CSV text by RFC 4180, at most so many; an incomplete last one is left out.
 * @param {string} text
 * @param {number} most
 */
export function records(text, most) {
  const found = /** @type {string[][]} */ ([]);
  let record = /** @type {string[]} */ ([]);
  const cells = /("(?:[^"]|"")*"|[^,\r\n]*)(,|\r?\n)/gy;
  for (let match = cells.exec(text); match && found.length < most; match = cells.exec(text)) {
    const [, cell, end] = match;
    record.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end !== ",") {
      found.push(record);
      record = [];
    }
  }
  return found;
}

/** @param {{ path: string, rows: number }} props */
export function Preview({ path, rows }) {
  const [state, setState] = useState({ text: /** @type {string | null} */ (null), problem: /** @type {any} */ (null) });
  useEffect(() => {
    startOf(path, BYTES).then((text) => setState({ text, problem: null }), (problem) => setState({ text: null, problem }));
  }, [path]);
  if (state.problem) return html`<${Failure} problem=${state.problem} />`;
  if (state.text === null) return html`<${Loading} what="the first rows" />`;
  const [header = [], ...all] = records(state.text, ROWS + 1);
  return html`<${Table} header=${header.slice(0, COLUMNS)} rows=${all} />
    <p class="note">The first ${count(all.length)} of ${count(rows)} rows${header.length > COLUMNS ? `, and the first ${COLUMNS} of ${count(header.length)} columns` : ""}.</p>`;
}

/** @param {{ header: string[], rows: string[][] }} props */
function Table({ header, rows }) {
  const columns = header.map((_, index) => {
    const cells = rows.map((row) => row[index] ?? "");
    const given = cells.filter((cell) => cell !== "");
    const isNumeric = given.length > 0 && given.every((cell) => Number.isFinite(Number(cell)));
    const values = isNumeric ? cells.map((cell) => (cell === "" ? null : Number(cell))) : cells;
    return { side: isNumeric ? "right" : "name", values, format: columnFormat(values) };
  });
  return html`<div class="scroll" tabindex="0" role="region" aria-label="First rows"><table class="data">
    <caption class="hidden">The first rows of the file</caption>
    <thead><tr>${header.map((name, index) => html`<th scope="col" class=${columns[index].side}>${name}</th>`)}</tr></thead>
    <tbody>${rows.map((_, row) => html`<tr key=${row}>${columns.map((column) => html`<td class=${column.side}>${column.format(column.values[row])}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}
