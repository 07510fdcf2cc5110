/** Residuals in bins of the prediction or of an input: their mean with two standard errors, and their spread. */

import { count, deviation, number, tick } from "../format.js";
import { html } from "../html.js";
import { extent } from "../parts/scales.js";
import { frameOf, Plot, SIZES } from "./plot.js";

const Z = 3;
const MAX_NAME = 9;

/**
 * `isApart`: the rows without a value of a number, which have no place on its axis.
 * @typedef {{ from: number, to: number, name: string, rows: number, mean: number, sd: number, error: number, isApart?: boolean }} Bin
 */

/** @param {{ of: any, isClasses: boolean, title: string, axis: string }} props */
export function Residuals({ of, isClasses, title, axis }) {
  const all = binsOf(of, isClasses);
  const bins = all.filter((bin) => !bin.isApart);
  const ends = bins.flatMap((bin) => [bin.mean - Math.max(bin.sd, 2 * bin.error), bin.mean + Math.max(bin.sd, 2 * bin.error)]);
  const frame = frameOf(SIZES.small, [bins[0]?.from ?? 0, bins.at(-1)?.to ?? 1], extent([...ends, 0], 0.05));
  const { x, y } = frame;
  const names = of.kind === "timestamp" ? days(frame.domains.x) : of.edges ? undefined : bins.map((bin) => ({ at: (bin.from + bin.to) / 2, name: shortened(bin.name, bins.length) }));
  const table = {
    head: [axis, "Rows", "Mean residual", "Standard error", "sd"],
    rows: all.map((bin) => [bin.name, count(bin.rows), number(bin.mean), deviation(bin.error), number(bin.sd)]),
  };
  return html`<${Plot} title=${title} name="residuals" text=${residualText(all, of)} table=${table} frame=${frame}
    labels=${{ x: axis, y: "Residual" }} names=${names}>
    ${bins.map((bin) => html`<g>
      <rect class="band" x=${x(bin.from) + 0.5} width=${Math.max(1, x(bin.to) - x(bin.from) - 1)} y=${y(bin.mean + bin.sd)} height=${y(bin.mean - bin.sd) - y(bin.mean + bin.sd)} />
      <line class=${`whisker ${isNoise(bin) ? "" : "off"}`} x1=${x((bin.from + bin.to) / 2)} x2=${x((bin.from + bin.to) / 2)} y1=${y(bin.mean - 2 * bin.error)} y2=${y(bin.mean + 2 * bin.error)} />
      <circle class=${isNoise(bin) ? "dot" : "dot off"} cx=${x((bin.from + bin.to) / 2)} cy=${y(bin.mean)} r="3.5" />
    </g>`)}
    <line class="zero" x1=${frame.size.left} x2=${frame.size.width - frame.size.right} y1=${y(0)} y2=${y(0)} />
  <//>`;
}

/** The bins with rows: those of numbers between their edges, categories side by side, rows without a value last. @param {any} of @param {boolean} isClasses @returns {Bin[]} */
export function binsOf(of, isClasses) {
  const format = of.kind === "timestamp" ? day : number;
  const bounds = of.edges ? [of.min, ...of.edges, of.max] : [];
  const found = of.edges
    ? of.bins.map((/** @type {any} */ bin, /** @type {number} */ at) => ({ ...bin, from: bounds[at], to: bounds[at + 1], name: `${format(bounds[at])} to ${format(bounds[at + 1])}` }))
    : of.categories.map((/** @type {any} */ one) => ({ ...one, name: one.label }));
  if (of.other) found.push({ ...of.other, name: "others" });
  if (of.missing) found.push({ ...of.missing, name: "missing", isApart: Boolean(of.edges) });
  const present = found.filter((/** @type {Bin} */ bin) => bin.rows > 0).map((/** @type {Bin} */ bin) => ({ ...bin, error: errorOf(bin, isClasses) }));
  return of.edges ? present : present.map((/** @type {any} */ bin, /** @type {number} */ at) => ({ ...bin, from: at, to: at + 1 }));
}

/**
 * The standard error of a mean. Of classes it is that with one wrong row more: a bin in which all rows are of the expected
 * class has a spread of nearly 0, and yet another row may be of the other.
 * @param {{ rows: number, sd: number }} bin @param {boolean} isClasses
 */
const errorOf = ({ rows, sd }, isClasses) => Math.sqrt(rows * sd * sd + (isClasses ? 1 : 0)) / rows;

/** @param {Bin} bin */
const isNoise = (bin) => bin.rows < 2 || Math.abs(bin.mean) <= Z * bin.error;

/** The distance of the most unusual mean from 0, in standard errors. @param {any} of @param {boolean} isClasses */
export const surprise = (of, isClasses) => Math.max(0, ...binsOf(of, isClasses).filter((bin) => bin.rows > 1 && bin.error > 0).map((bin) => Math.abs(bin.mean) / bin.error));

/** @param {Bin[]} bins @param {any} of */
export function residualText(bins, of) {
  const wrong = bins.filter((bin) => !isNoise(bin)).sort((one, other) => Math.abs(other.mean) / other.error - Math.abs(one.mean) / one.error);
  const place = (/** @type {Bin} */ bin) => (of.edges && !bin.isApart ? `from ${bin.name}` : `for ${bin.name}`);
  if (wrong.length === 0) return "No mean is further from 0 than three standard errors.";
  const sides = [1, -1].map((sign) => wrong.filter((bin) => Math.sign(bin.mean) === sign)).filter((bins) => bins.length > 0);
  return sides.map((bins) => {
    const [first] = bins;
    const others = bins.length > 1 ? `, and in ${bins.length - 1} more ${bins.length === 2 ? "bin" : "bins"}` : "";
    return `Predictions are too ${first.mean > 0 ? "low" : "high"} ${place(first)} (the mean is ${number(first.mean)} ± ${deviation(first.error)})${others}.`;
  }).join(" ");
}

/** A name that fits below its bin. @param {string} name @param {number} bins */
function shortened(name, bins) {
  const most = bins > 6 ? Math.max(2, Math.floor((3 * MAX_NAME) / bins)) : Math.max(4, Math.floor((5 * MAX_NAME) / bins));
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}

/** Two days to label an axis of points in time with, away from its ends; one of a short time. @param {[number, number]} domain */
export function days([from, to]) {
  const found = [0.18, 0.82].map((share) => from + share * (to - from)).map((at) => ({ at, name: day(at) }));
  return found[0].name === found[1].name ? [{ ...found[0], at: (from + to) / 2 }] : found;
}

/** The day of a moment in seconds since 1970. @param {number} seconds */
export const day = (seconds) => (Number.isFinite(seconds) ? new Date(1000 * seconds).toISOString().slice(0, 10) : tick(seconds));
