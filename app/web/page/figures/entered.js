/** The rows that carry the functions of the fit, as they entered: over the input and the target, or over two inputs. */

import { counted, number } from "../format.js";
import { html } from "../html.js";
import { extent } from "../parts/scales.js";
import { frameOf, Legend, Plot, SIZES } from "./plot.js";

/**
 * @typedef {{ row: number, x: number, y: number }} Place
 * @typedef {import("./fit-trace.js").Step} Step
 */

/** Those of the rows that carry the final functions which have entered by a step; null where the trace does not name each: several may enter in one step. @param {Step[]} steps @param {number} at @param {number[]} carrying */
export function rowsAfter(steps, at, carrying) {
  const entries = new Map(steps.map((step, index) => [step.entered, index]));
  if (carrying.length === 0 || carrying.some((row) => !entries.has(row))) return null;
  return new Set(carrying.filter((row) => Number(entries.get(row)) <= at));
}

/** @param {{ rows: Set<number>, step: Step, places: Place[], labels: { x: string, y: string } }} props */
export function EnteredPlot({ rows, step, places, labels }) {
  const frame = frameOf(SIZES.half, extent(places.map((one) => one.x), 0.02), extent(places.map((one) => one.y), 0.05));
  const ringed = places.filter((one) => rows.has(one.row));
  const text = ringed.length === 0 ? "No row that carries a function of the final fit has entered yet." : `${counted(ringed.length, "row has", "rows have")} entered${step.entered !== null && rows.has(step.entered) ? `, the last of them row ${step.entered + 1}` : ""}.`;
  const table = { head: ["Row", labels.x, labels.y], rows: ringed.map((one) => [one.row + 1, number(one.x), number(one.y)]) };
  return html`<${Plot} title="Rows that carry the final functions, as they entered" name="entered" text=${text} table=${table} frame=${frame} labels=${labels}
    legend=${html`<${Legend} of=${[["point", "row of the data"], ["ring", "row that carries a function"]]} />`}>
    ${places.map((one) => html`<circle class="point" cx=${frame.x(one.x)} cy=${frame.y(one.y)} r="2.5" />`)}
    ${ringed.map((one) => html`<circle class=${`ring ${one.row === step.entered ? "new" : ""}`} cx=${frame.x(one.x)} cy=${frame.y(one.y)} r="6" />`)}
  <//>`;
}
