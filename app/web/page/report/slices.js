/** Predictions along each input, all others in the middle of the data: figures on one scale. */

import { embedded } from "../embedded.js";
import { frameOf, Plot, SIZES } from "../figures/plot.js";
import { cell, number, percent } from "../format.js";
import { html } from "../html.js";
import { Curve, linesOf } from "../parts/curve.js";
import { useSample } from "../parts/sample.js";
import { area, extent, path as pathOf } from "../parts/scales.js";
import { useResource } from "../state.js";

/** @typedef {import("../embedded.js").Slice} Slice */
/** @typedef {import("../parts/curve.js").Lines} Lines */

const TABLE_ROWS = 9;
const CHARACTER = 8;
const MAX_LABEL = 40;
const MAX_RINGS = 300;

/** @param {{ version: any, path: string }} props */
export function Slices({ version, path }) {
  const slices = embedded?.slices ?? [];
  if (slices.length === 0) return null;
  if (version.inputs.length === 1 && slices[0].kind === "number") return html`<${Whole} version=${version} path=${path} slice=${slices[0]} />`;
  const drawn = slices.map((slice) => ({ slice, predictions: predictionsOf(slice) }));
  const lines = drawn.map((one) => linesOf(one.predictions));
  const range = extent(lines.flatMap((one) => one.domain));
  const first = lines.reduce((one, other) => (other.bands.length > one.bands.length ? other : one));
  const middle = slices.map((slice) => `${slice.input} ${valueText(slice.middle)}`).join(", ");
  return html`<section><h2>Predictions along each input</h2>
    <p class="note name">The input that changes predictions most is first. All others are in the middle of the data: ${middle}.</p>
    <ul class="legend">${first.means.map((one, index) => html`<li class=${`line-${index}`}><span class="name">${one.name}</span></li>`)}
      ${first.bands.map((band) => html`<li class=${band.name}>${band.title}</li>`)}</ul>
    <div class="plots">${drawn.map((one, index) => html`
      <${Figure} key=${one.slice.input} target=${version.target} ...${one} lines=${lines[index]} range=${range} />`)}</div>
  </section>`;
}

/** The only input: the curve is all that the version predicts. @param {{ version: any, path: string, slice: Slice }} props */
function Whole({ version, path, slice }) {
  const sample = useSample(version, MAX_RINGS) ?? [];
  const vectors = useResource(`${path}/relevance-vectors?sort=weight&limit=${MAX_RINGS}`);
  const input = { name: slice.input, min: slice.values[0], max: slice.values[slice.values.length - 1] };
  return html`<section><h2>Predictions</h2><${Curve} version=${version} input=${input} isWhole=${true} sample=${sample} vectors=${vectors.data?.items ?? []}
    rows=${slice.values.map((value) => ({ [slice.input]: value }))} predictions=${predictionsOf(slice)} /></section>`;
}

/** The predictions in the form of responses. @param {Slice} slice @returns {any[]} */
function predictionsOf({ values, figures, classes }) {
  return values.map((_, place) => {
    if (classes.length) return { probabilities: classes.map((one) => ({ label: one.label, probability: one.values[place] })) };
    const of = (/** @type {string} */ name) => figures[name][place];
    const variance = { total: of("variance_total"), noise: of("variance_noise"), weights: of("variance_weights"), residual: of("variance_residual") };
    return { mean: of("mean"), lower: of("lower"), upper: of("upper"), variance };
  });
}

/** @param {any} value */
const valueText = (value) => (value === null ? "missing" : cell(value));

/** @param {{ target: string, slice: Slice, predictions: any[], lines: Lines, range: [number, number] }} props */
function Figure({ target, slice, predictions, lines, range }) {
  const { input, values, kind } = slice;
  const isNumber = kind === "number";
  const frame = frameOf(SIZES.half, isNumber ? [values[0], values[values.length - 1]] : [-0.5, values.length - 0.5], range);
  const label = lines.label ?? target;
  const text = isNumber ? `${label} along ${input}: ${lines.text(values)}` : `${label} by ${input}: ${levelsText(slice, predictions)}`;
  return html`<${Plot} title=${`${isNumber ? "Along" : "By"} ${input}`} text=${text} table=${tableOf(slice, predictions)} frame=${frame} names=${isNumber ? undefined : shortened(values)}
    labels=${{ x: cut(input, MAX_LABEL), y: cut(label, MAX_LABEL) }}>
    ${isNumber ? html`<${Along} lines=${lines} values=${values} frame=${frame} />` : html`<${Levels} lines=${lines} frame=${frame} />`}
  <//>`;
}

/** @param {{ lines: Lines, values: number[], frame: import("../figures/plot.js").Frame }} props */
function Along({ lines, values, frame: { x, y } }) {
  const points = (/** @type {number[]} */ line) => /** @type {[number, number][]} */ (line.map((value, place) => [x(values[place]), y(value)]));
  return html`${lines.bands.map((band) => html`<path class=${`band ${band.name}`} d=${area(points(band.upper), points(band.lower))} />`)}
    ${lines.means.map((one, index) => html`<path class=${`line line-${index}`} d=${pathOf(points(one.values))} />`)}`;
}

/** Intervals and a point for each category. @param {{ lines: Lines, frame: import("../figures/plot.js").Frame }} props */
function Levels({ lines, frame: { x, y } }) {
  const half = Math.min(16, (x(1) - x(0)) / 4);
  return html`${lines.bands.map((band) => band.lower.map((low, place) => html`<rect class=${`band ${band.name}`} x=${x(place) - half} width=${2 * half} y=${y(band.upper[place])} height=${Math.max(0, y(low) - y(band.upper[place]))} />`))}
    ${lines.means.map((one, index) => one.values.map((value, place) => html`<circle class=${`dot line-${index}`} cx=${x(place)} cy=${y(value)} r="4.5" />`))}`;
}

/** Names that fit below the axis. @param {any[]} values */
function shortened(values) {
  const most = Math.max(3, Math.floor((SIZES.half.width - SIZES.half.left) / values.length / CHARACTER) - 1);
  return values.map((value, at) => ({ at, name: cut(valueText(value), most) }));
}

/** @param {string} text @param {number} most */
const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** @param {any} prediction */
function predictionText(prediction) {
  if (!prediction.probabilities) return number(prediction.mean);
  return prediction.probabilities.map((/** @type {any} */ one) => `${one.label} ${percent(one.probability)}`).join(", ");
}

/** @param {Slice} slice @param {any[]} predictions */
function levelsText({ values }, predictions) {
  return `${values.map((value, place) => `${valueText(value)} ${predictionText(predictions[place])}`).join("; ")}.`;
}

/** @param {Slice} slice @param {any[]} predictions */
function tableOf({ input, kind, values, classes }, predictions) {
  const step = kind === "number" ? Math.max(1, Math.floor((values.length - 1) / (TABLE_ROWS - 1))) : 1;
  const places = [...values.keys()].filter((place) => place % step === 0);
  const figures = (/** @type {any} */ one) =>
    one.probabilities ? one.probabilities.map((/** @type {any} */ each) => percent(each.probability)) : [one.mean, one.lower, one.upper].map((value) => number(value));
  return {
    head: [input, ...(classes.length ? classes.map((one) => `Probability of ${one.label}`) : ["Prediction", "95 % from", "to"])],
    rows: places.map((place) => [valueText(values[place]), ...figures(predictions[place])]),
  };
}
