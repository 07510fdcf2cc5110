/** The rows whose functions are in the model after a step: over the input and the target, or over two inputs. */

import { counted, number } from "../format.js";
import { html } from "../html.js";
import { extent } from "../parts/scales.js";
import { frameOf, Legend, Plot, SIZES } from "./plot.js";

/**
 * @typedef {{ row: number, x: number, y: number }} Place
 * @typedef {import("./fit-trace.js").Step} Step
 */

/** The rows in the model after a step; null where the trace does not name them: functions entered together, or steps were left out. @param {{ steps: number, kept: Step[] }} trace @param {number} at */
export function rowsAfter({ steps, kept }, at) {
  if (kept.length < steps || !kept.some((step) => step.entered !== null)) return null;
  /** @type {Set<number>} */
  const rows = new Set();
  for (const { entered, left } of kept.slice(0, at + 1)) {
    if (entered !== null) rows.add(entered);
    if (left !== null) rows.delete(left);
  }
  return rows;
}

/** @param {{ rows: Set<number>, step: Step, places: Place[], labels: { x: string, y: string } }} props */
export function EnteredPlot({ rows, step, places, labels }) {
  const frame = frameOf(SIZES.half, extent(places.map((one) => one.x), 0.02), extent(places.map((one) => one.y), 0.05));
  const ringed = places.filter((one) => rows.has(one.row));
  const text = ringed.length === 0 ? "No row carries a function yet." : `${counted(ringed.length, "row carries", "rows carry")} functions${step.entered === null ? "" : `; that of row ${step.entered} has just entered`}.`;
  const table = { head: ["Row", labels.x, labels.y], rows: ringed.map((one) => [one.row, number(one.x), number(one.y)]) };
  return html`<${Plot} title="Rows that carry functions" name="entered" text=${text} table=${table} frame=${frame} labels=${labels}
    legend=${html`<${Legend} of=${[["point", "row of the data"], ["ring", "row that carries a function"]]} />`}>
    ${places.map((one) => html`<circle class="point" cx=${frame.x(one.x)} cy=${frame.y(one.y)} r="2.5" />`)}
    ${ringed.map((one) => html`<circle class=${`ring ${one.row === step.entered ? "new" : ""}`} cx=${frame.x(one.x)} cy=${frame.y(one.y)} r="6" />`)}
  <//>`;
}
