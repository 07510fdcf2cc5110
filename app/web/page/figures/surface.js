/** Predictions over two inputs: for classes their regions and boundaries, for numbers lines of equal means; functions ringed. */

import { count, number, percent } from "../format.js";
import { html } from "../html.js";
import { extent, path, ticks } from "../parts/scales.js";
import { contours } from "./contours.js";
import { frameOf, Legend, Plot } from "./plot.js";

const SIZE = { width: 560, height: 440, left: 60, right: 10, top: 26, bottom: 48 };
const LEVELS = [0.1, 0.25, 0.5, 0.75, 0.9];
const MAX_CLASSES = 5;

/**
 * `values` of a field are row by row, the first input changing fastest.
 * @typedef {{ name: string, values: number[] }} Field
 * @typedef {{ target: string, inputs: [string, string], xs: number[], ys: number[], fields: Field[], isClasses: boolean }} Surface
 * @param {{ surface: Surface, rings: [number, number][], points: { x: number, y: number, label: unknown }[] }} props
 */
export function SurfacePlot({ surface, rings, points }) {
  const { inputs, xs, ys, fields, isClasses } = surface;
  const frame = frameOf(SIZE, [xs[0], xs[xs.length - 1]], [ys[0], ys[ys.length - 1]]);
  const place = (/** @type {[number, number]} */ [i, j]) => /** @type {[number, number]} */ ([frame.x(along(xs, i)), frame.y(along(ys, j))]);
  const layers = isClasses ? (fields.length === 2 ? ofTwo(surface) : ofMany(surface)) : ofNumbers(surface);
  const names = fields.map((field) => field.name);
  const text = surfaceText(surface, rings.length);
  return html`<${Plot} title=${isClasses ? "Decision boundary" : `${surface.target} over both inputs`} name="surface" text=${text} table=${tableOf(surface)} frame=${frame}
    labels=${{ x: inputs[0], y: inputs[1] }} legend=${html`<${Legend} of=${legendOf(surface, rings.length > 0, points.length > 0)} />`}>
    ${layers.map((layer) => {
      const found = contours({ columns: xs.length, rows: ys.length, values: layer.values }, layer.level).map((ring) => ring.map(place));
      return html`<g><path class=${`layer ${layer.name}`} fill-rule="evenodd" d=${found.map((ring) => `${path(ring)}Z`).join("")} />
        ${layer.label && labelOf(found, layer.label, frame)}</g>`;
    })}
    ${points.map((point) => html`<circle class=${`point ${isClasses ? `line-${names.indexOf(String(point.label))}` : ""}`} cx=${frame.x(point.x)} cy=${frame.y(point.y)} r="2.5" />`)}
    ${rings.map(([x, y]) => html`<circle class="ring" cx=${frame.x(x)} cy=${frame.y(y)} r="6" />`)}
  <//>`;
}

/** @typedef {{ values: number[], level: number, name: string, label?: string }} Layer */

/** The value between nodes of an axis. @param {number[]} nodes @param {number} at */
function along(nodes, at) {
  const first = Math.min(Math.floor(at), nodes.length - 2);
  return nodes[first] + (at - first) * (nodes[first + 1] - nodes[first]);
}

/** @param {Surface} surface @returns {Layer[]} */
const ofTwo = ({ fields }) =>
  LEVELS.map((level) => ({ values: fields[1].values, level, name: level === 0.5 ? "boundary" : "level", label: percent(level) }));

/** Each class where it is the most probable. @param {Surface} surface @returns {Layer[]} */
const ofMany = ({ fields }) =>
  fields.map((field, index) => ({
    values: field.values.map((value, at) => value - Math.max(...fields.map((one, other) => (other === index ? 0 : one.values[at])))),
    level: 0,
    name: `boundary line-${index}`,
  }));

/** @param {Surface} surface @returns {Layer[]} */
function ofNumbers({ fields }) {
  const domain = extent(fields[0].values);
  return ticks(domain, 7).filter((level) => level > domain[0]).map((level) => ({ values: fields[0].values, level, name: "level", label: number(level) }));
}

/** The label of a contour: on its longest ring, at the point furthest from the border. @param {[number, number][][]} rings @param {string} text @param {import("./plot.js").Frame} frame */
function labelOf(rings, text, { size }) {
  const inner = (/** @type {[number, number]} */ [x, y]) => Math.min(x - size.left, size.width - size.right - x, y - size.top, size.height - size.bottom - y);
  const points = rings.flat();
  if (points.length === 0) return null;
  const best = points.reduce((one, other) => (inner(other) > inner(one) ? other : one));
  return inner(best) > 12 && html`<text class="level" x=${best[0]} y=${best[1]} dy="0.32em" text-anchor="middle">${text}</text>`;
}

/** @param {Surface} surface @param {boolean} hasRings @param {boolean} hasPoints */
function legendOf({ fields, isClasses }, hasRings, hasPoints) {
  /** @type {[string, string][]} */
  const signs = [];
  if (isClasses && fields.length > 2) fields.slice(0, MAX_CLASSES).forEach((field, index) => signs.push([`line-${index}`, field.name]));
  else if (isClasses) {
    signs.push(["boundary", `both classes equally probable`], ["level", `probability of ${fields[1].name}`]);
    if (hasPoints) fields.forEach((field, index) => signs.push([`point line-${index}`, `row with ${field.name}`]));
  } else if (hasPoints) signs.push(["point", "row of the data"]);
  if (hasRings) signs.push(["ring", "row that carries a function"]);
  return signs;
}

/** @param {Surface} surface @param {number} rings */
function surfaceText({ target, inputs, xs, ys, fields, isClasses }, rings) {
  const carried = rings ? ` ${count(rings)} ${rings === 1 ? "row carries" : "rows carry"} its functions.` : "";
  const cells = fields[0].values.length;
  if (!isClasses) {
    const values = fields[0].values;
    const place = (/** @type {number} */ at) => `${inputs[0]} ${number(xs[at % xs.length])}, ${inputs[1]} ${number(ys[Math.floor(at / xs.length)])}`;
    const [low, high] = [values.indexOf(Math.min(...values)), values.indexOf(Math.max(...values))];
    return `${target} is least, ${number(values[low])}, at ${place(low)}, and greatest, ${number(values[high])}, at ${place(high)}.${carried}`;
  }
  const shares = fields.map((field, index) => field.values.filter((value, at) => fields.every((one, other) => other === index || value > one.values[at])).length / cells);
  return `${fields.map((field, index) => `${field.name} is predicted in ${percent(shares[index])}`).join(", ")} of the area that the data span.${carried}`;
}

/** Every fifth value of both inputs. @param {Surface} surface */
function tableOf({ inputs, xs, ys, fields, isClasses }) {
  const every = (/** @type {number[]} */ nodes) => nodes.map((_, at) => at).filter((at) => at % Math.max(1, Math.floor((nodes.length - 1) / 5)) === 0);
  const format = isClasses ? percent : number;
  const shown = isClasses && fields.length === 2 ? fields.slice(1) : fields;
  return {
    head: [inputs[0], inputs[1], ...shown.map((field) => (isClasses ? `Probability of ${field.name}` : field.name))],
    rows: every(xs).flatMap((i) => every(ys).map((j) => [number(xs[i]), number(ys[j]), ...shown.map((field) => format(field.values[j * xs.length + i]))])),
  };
}
