/** The histogram of the probability integral transform: even where the predicted distributions are those of the targets. */

import { percent, share as tick } from "../format.js";
import { html } from "../html.js";
import { frameOf, Legend, Plot, SIZES } from "./plot.js";

/** Normal quantiles: of the two tests of a slope and a curvature, .1 % each, two-sided, and of the test of the shape, .6 %. Together they alarm for .8 % of calibrated models. */
const Z = 3.29;
const Z_OF_SHAPE = 2.51;

/** @param {{ reliability: any }} props */
export function Pit({ reliability }) {
  const { pit, rows } = reliability;
  const expected = 1 / pit.length;
  const error = Math.sqrt((expected * (1 - expected)) / rows);
  const frame = frameOf(SIZES.half, [0, 1], [0, 1.1 * Math.max(...pit, expected + 2 * error)]);
  const { x, y } = frame;
  const width = x(expected) - x(0) - 2;
  const table = {
    head: ["Predicted probability of at most the target", "Rows"],
    rows: pit.map((/** @type {number} */ share, /** @type {number} */ index) => [`${percent(index * expected)} to ${percent((index + 1) * expected)}`, percent(share)]),
  };
  return html`<${Plot} title="Where targets fall in their predicted distributions" name="pit" text=${pitText(pit, rows)} table=${table} frame=${frame}
    labels=${{ x: "Predicted probability of at most the target (PIT)", y: "Rows" }} format=${{ x: tick, y: tick }}
    legend=${html`<${Legend} of=${[["bar", "observed"], ["expected", "expected, ± two standard errors"]]} />`}>
    <rect class="expected" x=${x(0)} width=${x(1) - x(0)} y=${y(expected + 2 * error)} height=${y(Math.max(0, expected - 2 * error)) - y(expected + 2 * error)} />
    ${pit.map((/** @type {number} */ share, /** @type {number} */ index) => html`<rect class="bar" x=${x(index * expected) + 1} width=${width} y=${y(share)} height=${y(0) - y(share)} />`)}
    ${[-2, 0, 2].map((times) => html`<line class=${`expected ${times ? "limit" : ""}`} x1=${x(0)} x2=${x(1)} y1=${y(Math.max(0, expected + times * error))} y2=${y(Math.max(0, expected + times * error))} />`)}
  <//>`;
}

/** The shape in words: a slope by the mean, a U or a peak by the variance, or unevenness, each by a test. @param {number[]} pit @param {number} rows */
export function pitText(pit, rows) {
  const middle = (/** @type {number} */ index) => (index + 0.5) / pit.length;
  const mean = pit.reduce((sum, share, index) => sum + share * middle(index), 0);
  const spread = pit.reduce((sum, share, index) => sum + share * (middle(index) - 0.5) ** 2, 0) + 1 / 12 / pit.length ** 2;
  const slope = (mean - 0.5) / Math.sqrt(1 / 12 / rows);
  const curvature = (spread - 1 / 12) / Math.sqrt(1 / 180 / rows);
  const chi2 = pit.reduce((sum, share) => sum + (share - 1 / pit.length) ** 2, 0) * rows * pit.length;
  const freedom = pit.length - 1;
  if (slope > Z) return "It rises: targets tend to be greater than predicted.";
  if (slope < -Z) return "It falls: targets tend to be less than predicted.";
  if (curvature > Z) return "It is higher at the ends: too many targets are far from their predictions, and intervals are too narrow.";
  if (curvature < -Z) return "It is higher in the middle: targets are closer to their predictions than stated, and intervals are too wide.";
  // The quantile by Wilson and Hilferty.
  const greatest = freedom * (1 - 2 / (9 * freedom) + Z_OF_SHAPE * Math.sqrt(2 / (9 * freedom))) ** 3;
  if (chi2 > greatest) return "It is uneven without a slope or a curve: the predicted distributions have another shape than the targets.";
  return "It is as even as chance permits: the predicted distributions are those of the targets.";
}
