/** The observed frequency of a class beside its predicted probability. */

import { count, number, percent, share } from "../format.js";
import { html } from "../html.js";
import { frameOf, Legend, Plot, SIZES } from "./plot.js";

/** @typedef {{ lower: number, upper: number, rows: number, predicted: number, observed: number }} Bin */

/** @param {{ curve: { label: unknown, bins: Bin[] }, reliability: any, tools?: unknown }} props */
export function Calibration({ curve, reliability, tools }) {
  const frame = frameOf(SIZES.half, [0, 1], [0, 1]);
  const { x, y } = frame;
  const most = Math.max(...curve.bins.map((bin) => bin.rows));
  const table = {
    head: ["Predicted", "Observed", "Rows"],
    rows: curve.bins.map((bin) => [percent(bin.predicted), percent(bin.observed), count(bin.rows)]),
  };
  return html`<${Plot} title=${`Calibration of ${curve.label}`} name="calibration" text=${calibrationText(curve.bins, reliability)} table=${table} frame=${frame}
    labels=${{ x: `Predicted probability of ${curve.label}`, y: "Observed frequency" }} format=${{ x: share, y: share }} tools=${tools}
    legend=${html`<${Legend} of=${[["expected", "calibrated, ± two standard errors"], ["dot", "observed; the larger, the more rows"]]} />`}>
    <line class="expected" x1=${x(0)} y1=${y(0)} x2=${x(1)} y2=${y(1)} />
    ${curve.bins.map((bin) => html`<line class="expected range" x1=${x(bin.predicted)} x2=${x(bin.predicted)} y1=${y(Math.max(0, bin.predicted - 2 * errorOf(bin)))} y2=${y(Math.min(1, bin.predicted + 2 * errorOf(bin)))} />`)}
    ${curve.bins.map((bin) => html`<circle class=${isNoise(bin) ? "dot" : "dot off"} cx=${x(bin.predicted)} cy=${y(bin.observed)} r=${2.5 + 4.5 * Math.sqrt(bin.rows / most)} />`)}
  <//>`;
}

/** The standard error of a frequency if the prediction holds; one row counts at least. @param {Bin} bin */
const errorOf = (bin) => Math.max(Math.sqrt((bin.predicted * (1 - bin.predicted)) / bin.rows), 0.5 / bin.rows);

/** @param {Bin} bin */
const isNoise = (bin) => Math.abs(bin.observed - bin.predicted) <= 2 * errorOf(bin);

/** @param {Bin[]} bins @param {any} reliability */
export function calibrationText(bins, reliability) {
  const rows = bins.reduce((sum, bin) => sum + bin.rows, 0);
  const gap = bins.reduce((sum, bin) => sum + (bin.rows / rows) * Math.abs(bin.observed - bin.predicted), 0);
  const held = bins.filter(isNoise).length;
  return `Frequencies differ from probabilities by ${(100 * gap).toFixed(1)} percentage points on average; ` +
    `${held} of ${bins.length} bins are within two standard errors. Brier score ${number(reliability.brier)}, ${count(reliability.rows)} rows.`;
}

/** How often each probability is predicted: at both ends by a model that is sure. @param {{ curve: { label: unknown, bins: Bin[] } }} props */
export function Sharpness({ curve }) {
  const rows = curve.bins.reduce((sum, bin) => sum + bin.rows, 0);
  const frame = frameOf(SIZES.half, [0, 1], [0, 1.1 * Math.max(...curve.bins.map((bin) => bin.rows / rows))]);
  const { x, y } = frame;
  const sure = curve.bins.filter((bin) => bin.upper <= 0.1 + 1e-9 || bin.lower >= 0.9 - 1e-9).reduce((sum, bin) => sum + bin.rows, 0);
  const table = { head: ["Predicted", "Rows"], rows: curve.bins.map((bin) => [`${percent(bin.lower)} to ${percent(bin.upper)}`, count(bin.rows)]) };
  const text = `For ${percent(sure / rows)} of the rows the probability of ${curve.label} is below 10\u00a0% or above 90\u00a0%.`;
  return html`<${Plot} title="Predicted probabilities" name="sharpness" text=${text} table=${table} frame=${frame}
    labels=${{ x: `Predicted probability of ${curve.label}`, y: "Rows" }} format=${{ x: share, y: share }}>
    ${curve.bins.map((bin) => html`<rect class="bar" x=${x(bin.lower) + 1} width=${x(bin.upper) - x(bin.lower) - 2} y=${y(bin.rows / rows)} height=${y(0) - y(bin.rows / rows)} />`)}
  <//>`;
}
