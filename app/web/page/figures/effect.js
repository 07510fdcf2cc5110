/** The effect of an input: predictions averaged over rows that all have the same value of it. */

import { number, percent, share } from "../format.js";
import { html } from "../html.js";
import { area, extent, path } from "../parts/scales.js";
import { frameOf, Plot, SIZES } from "./plot.js";
import { days } from "./residuals.js";

const MAX_CLASSES = 5;
const MAX_NAMES = 8;

/**
 * @typedef {{ label: string, values: number[] }} Line
 * @typedef {{ input: any, profile: any, lines: Line[], importance: number }} Effect
 */

/** The lines of a profile: of numbers the mean, of two classes the probability of the second, of more that of each. @param {any} profile @returns {Line[]} */
function linesOf(profile) {
  const [first] = profile.points;
  if (first.probabilities.length === 0) return [{ label: "mean", values: profile.points.map((/** @type {any} */ one) => one.mean) }];
  const labels = first.probabilities.map((/** @type {any} */ one) => String(one.label));
  const shown = labels.length === 2 ? labels.slice(1) : labels.slice(0, MAX_CLASSES);
  return shown.map((/** @type {string} */ label) => {
    const at = labels.indexOf(label);
    return { label, values: profile.points.map((/** @type {any} */ one) => one.probabilities[at].probability) };
  });
}

/** An effect with its importance: how far the line strays from its mean, over the values that the data have. @param {any} profile @param {any} histogram @returns {Effect} */
export function effectOf(profile, histogram) {
  const lines = linesOf(profile);
  const [input] = profile.inputs;
  const weights = weightsOf(input, histogram);
  const total = weights.reduce((sum, one) => sum + one, 0);
  const spread = (/** @type {number[]} */ values) => {
    const mean = values.reduce((sum, value, at) => sum + weights[at] * value, 0) / total;
    return Math.sqrt(values.reduce((sum, value, at) => sum + weights[at] * (value - mean) ** 2, 0) / total);
  };
  return { input, profile, lines, importance: Math.max(...lines.map((line) => spread(line.values))) };
}

/** The share of rows about each value, equal where the histogram is unknown. @param {any} input @param {any} histogram @returns {number[]} */
function weightsOf(input, histogram) {
  if (!histogram) return input.values.map(() => 1);
  if (histogram.categories) {
    const counts = new Map(histogram.categories.map((/** @type {any} */ one) => [String(one.label), one.count]));
    return input.values.map((/** @type {unknown} */ value) => Math.max(Number(counts.get(String(value)) ?? 0), 1e-3));
  }
  const bounds = [histogram.min, ...histogram.edges, histogram.max];
  return numbersOf(input).map((value) => {
    const bin = histogram.edges.findIndex((/** @type {number} */ edge) => value <= edge);
    const at = bin < 0 ? histogram.edges.length : bin;
    return Math.max(histogram.counts[at] / (bounds[at + 1] - bounds[at] || Infinity), 1e-12);
  });
}

/** Values as numbers; moments in seconds since 1970. @param {any} input @returns {number[]} */
const numbersOf = (input) => input.values.map((/** @type {any} */ value) => (input.kind === "timestamp" ? Date.parse(value) / 1000 : Number(value)));

/** @param {any} input */
const isDiscrete = (input) => input.kind === "category" || input.kind === "boolean";

/** A domain for all effects of a version, so that they compare. @param {Effect[]} effects @returns {[number, number]} */
export function commonDomain(effects) {
  if (effects.some((one) => one.profile.points[0].probabilities.length)) return [0, 1];
  return extent(effects.flatMap((one) => one.profile.points.flatMap((/** @type {any} */ point) => [point.mean, ...(hasBand(one.profile) ? [point.band.lower, point.band.upper] : []), ...(isDiscrete(one.input) ? [] : point.individual)])), 0.05);
}

/** Bands of other quantities than the mean are not on its scale. @param {any} profile */
const hasBand = (profile) => profile.band === "mean" || profile.band === "pooled_mean";

/** @param {{ effect: Effect, histogram: any, domain: [number, number], target: string }} props */
export function EffectPlot({ effect, histogram, domain, target }) {
  const { input, profile, lines } = effect;
  const hasNames = isDiscrete(input);
  const xs = hasNames ? input.values.map((/** @type {unknown} */ _, /** @type {number} */ at) => at) : numbersOf(input);
  const frame = frameOf(SIZES.small, hasNames ? [-0.5, xs.length - 0.5] : [xs[0], xs[xs.length - 1]], domain);
  const { x, y } = frame;
  const isClasses = profile.points[0].probabilities.length > 0;
  const format = isClasses ? percent : number;
  const names = hasNames ? input.values.map((/** @type {unknown} */ value, /** @type {number} */ at) => ({ at, name: shortened(String(value), xs.length, at) }))
    : input.kind === "timestamp" ? days(frame.domains.x) : undefined;
  const bands = hasBand(profile) ? profile.points.map((/** @type {any} */ point) => point.band) : null;
  const points = (/** @type {number[]} */ values) => /** @type {[number, number][]} */ (values.map((value, at) => [x(xs[at]), y(value)]));
  const singles = hasNames ? [] : (profile.points[0].individual ?? []).map((/** @type {number} */ _, /** @type {number} */ row) => profile.points.map((/** @type {any} */ point) => point.individual[row]));
  return html`<${Plot} title=${input.name} name="effect" text=${effectText(effect, target, format)} table=${tableOf(effect, bands, format, target)} frame=${frame}
    labels=${{ x: input.name, y: isClasses ? (lines.length === 1 ? `Probability of ${lines[0].label}` : "Probability") : target }} names=${names} format=${{ y: isClasses ? share : undefined }}>
    ${singles.map((/** @type {number[]} */ values) => html`<path class="single" d=${path(points(values))} />`)}
    ${hasNames
      ? lines.map((line, index) => html`<g class=${`line-${index}`}>
          ${bands && line.values.map((_, at) => html`<line class="whisker" x1=${x(at)} x2=${x(at)} y1=${y(bands[at].lower)} y2=${y(bands[at].upper)} />`)}
          ${line.values.map((value, at) => html`<circle class=${`dot line-${index}`} cx=${x(at)} cy=${y(value)} r="4.5" />`)}</g>`)
      : html`${bands && html`<path class="band fit" d=${area(points(bands.map((/** @type {any} */ one) => one.upper)), points(bands.map((/** @type {any} */ one) => one.lower)))} />`}
          ${lines.map((line, index) => html`<path class=${`line line-${index}`} d=${path(points(line.values))} />`)}`}
    ${rugOf(histogram, frame)}
  <//>`;
}

/** Ticks at the quantiles of the data. @param {any} histogram @param {import("./plot.js").Frame} frame */
function rugOf(histogram, { x, size, domains }) {
  if (!histogram?.edges) return null;
  const base = size.height - size.bottom;
  return [histogram.min, ...histogram.edges, histogram.max].filter((/** @type {number} */ at) => at >= domains.x[0] && at <= domains.x[1])
    .map((/** @type {number} */ at) => html`<line class="rug" x1=${x(at)} x2=${x(at)} y1=${base} y2=${base - 6} />`);
}

/** @param {Effect} effect @param {string} target @param {(value: number) => string} format */
function effectText({ input, lines, profile }, target, format) {
  const cell = (/** @type {number} */ at) => shown(input, at);
  const isClasses = profile.points[0].probabilities.length > 0;
  const parts = lines.map((line) => {
    const [low, high] = [line.values.indexOf(Math.min(...line.values)), line.values.indexOf(Math.max(...line.values))];
    const subject = isClasses ? `the probability of ${line.label}` : `the prediction of ${target}`;
    if (low === high) return `${subject} does not change`;
    return `${subject} averages ${format(line.values[low])} at ${cell(low)} and ${format(line.values[high])} at ${cell(high)}`;
  });
  return `${parts.join("; ").replace(/^t/, "T")}.`;
}

/** @param {Effect} effect @param {any[] | null} bands @param {(value: number) => string} format @param {string} target */
function tableOf({ input, lines }, bands, format, target) {
  return {
    head: [input.name, ...lines.map((line) => (line.label === "mean" ? target : `Probability of ${line.label}`)), ...(bands ? ["From", "To"] : [])],
    rows: input.values.map((/** @type {unknown} */ _, /** @type {number} */ at) => [shown(input, at), ...lines.map((line) => format(line.values[at])), ...(bands ? [format(bands[at].lower), format(bands[at].upper)] : [])]),
  };
}

/** A value of the input as a text. @param {any} input @param {number} at */
function shown(input, at) {
  const value = input.values[at];
  if (input.kind === "timestamp") return String(value).slice(0, 10);
  return typeof value === "number" ? number(value) : String(value);
}

/** @param {string} name @param {number} values @param {number} at */
function shortened(name, values, at) {
  const step = Math.ceil(values / MAX_NAMES);
  if (at % step) return "";
  const most = Math.max(3, Math.floor(30 / Math.min(values, MAX_NAMES)));
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}
