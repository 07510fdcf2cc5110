/** The predictions along one input: the mean, and bands of the three parts of its uncertainty; for classes, the probability of each; rows of the data, those that carry functions ringed. */

import { counted, number, percent } from "../format.js";
import { html } from "../html.js";
import { Axes } from "./axes.js";
import { area, extent, linear, path } from "./scales.js";

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [640, 320, 64, 48, 24];
const TWO_SIDED_95 = 1.959964;
const MAX_CLASSES = 5;
/** A smaller share of the residual variance is not seen. */
const MIN_SHARE = 0.02;

/** `at` is the prediction for `row`, which is marked. @param {{ version: any, input: any, row?: any, at?: any, rows: any[], predictions: any[], isWhole: boolean, sample: any[], vectors: any[] }} props */
export function Curve({ version, input, row, at, rows, predictions, isWhole, sample, vectors }) {
  const xs = rows.map((one) => one[input.name]);
  const lines = linesOf(predictions);
  const shown = placed(version, input, sample);
  /** @type {{ x: [number, number], y: [number, number] }} */
  const domains = { x: [input.min, input.max], y: lines.bands.length ? extent([...lines.domain, ...shown.map((one) => one.y)]) : lines.domain };
  const x = linear(domains.x, [LEFT, WIDTH - 8]);
  const y = linear(domains.y, [HEIGHT - BOTTOM, TOP]);
  const points = (/** @type {number[]} */ values) => /** @type {[number, number][]} */ (values.map((value, index) => [x(xs[index]), y(value)]));
  const others = isWhole ? "" : ", all other inputs as set";
  const text = `${version.target} along ${input.name}${others}: ${lines.text(xs)}`;
  const rings = ringsOf(input, vectors, shown, (/** @type {number} */ value) => valueAt(xs, lines.means[0].values, value));
  const here = row && Math.min(Math.max(row[input.name], input.min), input.max);
  return html`<figure class="curve">
    <svg class="figure" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label=${text}>
      <${Axes} x=${x} y=${y} domains=${domains} width=${WIDTH} height=${HEIGHT} left=${LEFT} bottom=${BOTTOM} labels=${{ x: input.name, y: lines.label ?? version.target }} />
      ${lines.bands.map((band) => html`<path class=${`band ${band.name}`} d=${area(points(band.upper), points(band.lower))} />`)}
      ${shown.map((one) => html`<circle class="point" cx=${x(one.x)} cy=${y(one.y)} r="2.5" />`)}
      ${lines.means.map((one, index) => html`<path class=${`line line-${index}`} d=${path(points(one.values))} />`)}
      ${rings.map((one) => html`<circle class="ring" cx=${x(one.x)} cy=${y(one.y)} r="6" />`)}
      ${row && html`<line class="here" x1=${x(here)} x2=${x(here)} y1=${TOP} y2=${HEIGHT - BOTTOM} />`}
      ${at?.mean !== undefined && html`<circle class="here" cx=${x(here)} cy=${y(at.mean)} r="4" />`}
    </svg>
    <figcaption>
      <ul class="legend">${lines.means.map((one, index) => html`<li class=${`line-${index}`}><span class="name">${one.name}</span></li>`)}
        ${lines.bands.map((band) => html`<li class=${band.name}>${band.title}</li>`)}
        ${shown.length > 0 && html`<li class="point">${lines.bands.length ? "rows of the data" : `rows, at the top where ${lines.means[0].name}`}</li>`}${rings.length > 0 && html`<li class="ring">rows that carry functions</li>`}</ul>
      <p class="note">${text}${rings.length > 0 && ` ${counted(rings.length, "row carries its", "rows carry its")} functions.`}</p>
    </figcaption>
  </figure>`;
}

/** @typedef {{ row: number, x: number, y: number }} Place */

/** Rows of the data at their targets; those of two classes at 1 for the one that is drawn first, else 0. @param {any} version @param {any} input @param {any[]} sample @returns {Place[]} */
function placed({ target, classes }, input, sample) {
  if (classes.length > 2) return [];
  const of = (/** @type {any} */ value) => (classes.length ? Number(String(value) === String(classes[0])) : value);
  return sample.map(({ row, cells }) => ({ row, x: cells[input.name], y: cells[target] === null ? null : of(cells[target]) }))
    .filter((one) => typeof one.x === "number" && typeof one.y === "number" && Number.isFinite(one.y));
}

/** The rows that carry functions: at their targets where these are shown, else on the curve. @param {any} input @param {any[]} vectors @param {Place[]} shown @param {(x: number) => number} curve */
function ringsOf(input, vectors, shown, curve) {
  const known = new Map(shown.map((one) => [one.row, one]));
  return vectors.filter((one) => one.function === "mean" && typeof one.inputs?.[input.name] === "number")
    .map((one) => (one.optimised ? undefined : known.get(one.row)) ?? { x: one.inputs[input.name], y: curve(one.inputs[input.name]) });
}

/** The value of a curve between its points. @param {number[]} xs @param {number[]} values @param {number} at */
function valueAt(xs, values, at) {
  const place = Math.min(Math.max(((at - xs[0]) / (xs[xs.length - 1] - xs[0] || 1)) * (xs.length - 1), 0), xs.length - 1);
  const first = Math.min(Math.floor(place), xs.length - 2);
  return values[first] + (place - first) * (values[first + 1] - values[first]);
}

/**
 * @typedef {{ label?: string, means: { name: string, values: number[] }[], domain: [number, number],
 *   bands: { name: string, title: string, lower: number[], upper: number[] }[], text: (xs: number[]) => string }} Lines
 */

/** The lines and the bands of predictions. @param {any[]} predictions */
export const linesOf = (predictions) => (predictions[0]?.probabilities ? ofClasses(predictions) : ofNumbers(predictions));

/** @param {any[]} predictions @returns {Lines} */
function ofNumbers(predictions) {
  const means = predictions.map((one) => one.mean);
  const bands = [{ name: "observations", title: "95\u00a0% of observations", lower: predictions.map((one) => one.lower), upper: predictions.map((one) => one.upper) }];
  const add = (/** @type {string} */ name, /** @type {string} */ title, /** @type {string[]} */ parts) => {
    const of = (/** @type {number} */ sign) => predictions.map((one) => one.mean + sign * TWO_SIDED_95 * Math.sqrt(parts.reduce((sum, part) => sum + one.variance[part], 0)));
    bands.push({ name, title, lower: of(-1), upper: of(1) });
  };
  if (predictions[0]?.variance) {
    const hasResidual = predictions.some((one) => one.variance.residual > MIN_SHARE * one.variance.total);
    add("fit", "95\u00a0% without the noise", ["weights", "residual"]);
    if (hasResidual) add("weights", "95\u00a0% by the uncertainty of the fit alone", ["weights"]);
  }
  const text = (/** @type {number[]} */ xs) => `${extremes(means, xs, number)}.`;
  return { means: [{ name: "mean", values: means }], bands, domain: extent([...bands[0].lower, ...bands[0].upper], 0.02), text };
}

/** @param {any[]} predictions @returns {Lines} */
function ofClasses(predictions) {
  const labels = predictions[0].probabilities.slice(0, MAX_CLASSES).map((/** @type {any} */ one) => one.label);
  const chance = (/** @type {any} */ one, /** @type {any} */ label) => one.probabilities.find((/** @type {any} */ each) => each.label === label).probability;
  const means = labels.map((/** @type {any} */ label) => ({ name: String(label), values: predictions.map((one) => chance(one, label)) }));
  const text = (/** @type {number[]} */ xs) => means.map((/** @type {any} */ one) => `${one.name} ${extremes(one.values, xs, percent)}`).join("; ") + ".";
  return { label: "Probability", means, bands: [], domain: [0, 1], text };
}

/** Where a curve is lowest and highest. @param {number[]} values @param {number[]} xs @param {(value: number) => string} format */
function extremes(values, xs, format) {
  const [low, high] = [values.indexOf(Math.min(...values)), values.indexOf(Math.max(...values))];
  if (low === high) return `${format(values[low])} everywhere`;
  return `least ${format(values[low])} at ${number(xs[low])}, greatest ${format(values[high])} at ${number(xs[high])}`;
}
