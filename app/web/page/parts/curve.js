/** The predictions along one input: the mean, the band of the fit, and the band of observations; for classes, the probability of each. */

import { number, percent } from "../format.js";
import { html } from "../html.js";
import { Axes } from "./axes.js";
import { area, extent, linear, path } from "./scales.js";

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [640, 320, 64, 48, 24];
const TWO_SIDED_95 = 1.959964;
const MAX_CLASSES = 5;

/** @param {{ version: any, input: any, row: any, at: any, rows: any[], predictions: any[], isWhole: boolean }} props */
export function Curve({ version, input, row, at, rows, predictions, isWhole }) {
  const xs = rows.map((one) => one[input.name]);
  const lines = predictions[0]?.probabilities ? ofClasses(predictions) : ofNumbers(predictions);
  /** @type {{ x: [number, number], y: [number, number] }} */
  const domains = { x: [input.min, input.max], y: lines.domain };
  const x = linear(domains.x, [LEFT, WIDTH - 8]);
  const y = linear(domains.y, [HEIGHT - BOTTOM, TOP]);
  const points = (/** @type {number[]} */ values) => /** @type {[number, number][]} */ (values.map((value, index) => [x(xs[index]), y(value)]));
  const others = isWhole ? "" : ", all other inputs as set";
  const text = `${version.target} along ${input.name}${others}: ${lines.text(xs)}`;
  const here = Math.min(Math.max(row[input.name], input.min), input.max);
  return html`<figure class="curve">
    <svg class="figure" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label=${text}>
      <${Axes} x=${x} y=${y} domains=${domains} width=${WIDTH} height=${HEIGHT} left=${LEFT} bottom=${BOTTOM} labels=${{ x: input.name, y: lines.label ?? version.target }} />
      ${lines.bands.map((band) => html`<path class=${`band ${band.name}`} d=${area(points(band.upper), points(band.lower))} />`)}
      ${lines.means.map((one, index) => html`<path class=${`line line-${index}`} d=${path(points(one.values))} />`)}
      <line class="here" x1=${x(here)} x2=${x(here)} y1=${TOP} y2=${HEIGHT - BOTTOM} />
      ${at.mean !== undefined && html`<circle class="here" cx=${x(here)} cy=${y(at.mean)} r="4" />`}
    </svg>
    <figcaption>
      <ul class="legend">${lines.means.map((one, index) => html`<li class=${`line-${index}`}><span class="name">${one.name}</span></li>`)}
        ${lines.bands.map((band) => html`<li class=${band.name}>${band.title}</li>`)}</ul>
      <p class="note">${text}</p>
    </figcaption>
  </figure>`;
}

/**
 * @typedef {{ label?: string, means: { name: string, values: number[] }[], domain: [number, number],
 *   bands: { name: string, title: string, lower: number[], upper: number[] }[], text: (xs: number[]) => string }} Lines
 */

/** @param {any[]} predictions @returns {Lines} */
function ofNumbers(predictions) {
  const means = predictions.map((one) => one.mean);
  const of = (/** @type {number} */ sign) => predictions.map((one) => one.mean + sign * TWO_SIDED_95 * Math.sqrt(one.variance.weights + one.variance.residual));
  const bands = [{ name: "observations", title: "95 % of observations", lower: predictions.map((one) => one.lower), upper: predictions.map((one) => one.upper) }];
  if (predictions[0]?.variance) bands.push({ name: "fit", title: "95 % of the mean", lower: of(-1), upper: of(1) });
  const text = (/** @type {number[]} */ xs) => {
    const [low, high] = [means.indexOf(Math.min(...means)), means.indexOf(Math.max(...means))];
    return `least ${number(means[low])} at ${number(xs[low])}, greatest ${number(means[high])} at ${number(xs[high])}.`;
  };
  return { means: [{ name: "mean", values: means }], bands, domain: extent([...bands[0].lower, ...bands[0].upper], 0.02), text };
}

/** @param {any[]} predictions @returns {Lines} */
function ofClasses(predictions) {
  const labels = predictions[0].probabilities.slice(0, MAX_CLASSES).map((/** @type {any} */ one) => one.label);
  const chance = (/** @type {any} */ one, /** @type {any} */ label) => one.probabilities.find((/** @type {any} */ each) => each.label === label).probability;
  const means = labels.map((/** @type {any} */ label) => ({ name: String(label), values: predictions.map((one) => chance(one, label)) }));
  const text = () => means.map((/** @type {any} */ one) => `${one.name} ${percent(one.values[0])} to ${percent(one.values.at(-1))}`).join(", ") + ".";
  return { label: "Probability", means, bands: [], domain: [0, 1], text };
}
