/** Predictions over two inputs: for classes their regions and boundaries, for numbers lines of equal means; functions ringed. */

import { count, number, percent, share } from "../format.js";
import { html } from "../html.js";
import { extent, path, ticks } from "../parts/scales.js";
import { contours } from "./contours.js";
import { frameOf, Legend, Plot } from "./plot.js";

const SIZE = { width: 680, height: 500, left: 60, right: 10, top: 26, bottom: 48 };
const LEVELS = [0.5, 0.75, 0.9];
/** The distance of labels from the border. */
const MARGIN = 24;

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
  const drawn = layers.map((layer) => {
    const found = contours({ columns: xs.length, rows: ys.length, values: layer.values }, layer.level);
    return { layer, rings: found.map((ring) => ring.map(place)), lines: found.flatMap((ring) => inside(ring, xs.length - 1, ys.length - 1)).map((line) => line.map(place)) };
  });
  const names = fields.map((field) => field.name);
  const text = surfaceText(surface, rings.length);
  return html`<${Plot} title=${isClasses ? "Decision boundary" : `${surface.target} over both inputs`} name="surface" text=${text} table=${tableOf(surface)} frame=${frame}
    labels=${{ x: inputs[0], y: inputs[1] }} legend=${html`<${Legend} of=${legendOf(surface, rings.length > 0, points.length > 0)} />`}>
    ${drawn.map(({ layer, rings, lines }) => html`<g class=${layer.name}>
      <path class="layer" fill-rule="evenodd" d=${rings.map((ring) => `${path(ring)}Z`).join("")} />
      <path class="contour" d=${lines.map(path).join("")} /></g>`)}
    ${points.filter((point) => isWithin(frame, point.x, point.y)).map((point) => html`<circle class=${`point ${isClasses ? `line-${names.indexOf(String(point.label))}` : ""}`} cx=${frame.x(point.x)} cy=${frame.y(point.y)} r="3" />`)}
    ${drawn.map(({ layer, lines }, index) => layer.label && labelOf(lines, layer.label, frame, (index + 1) / (drawn.length + 1)))}
    ${rings.filter(([x, y]) => isWithin(frame, x, y)).map(([x, y]) => html`<circle class="ring" cx=${frame.x(x)} cy=${frame.y(y)} r="7" />`)}
  <//>`;
}

/** True for a point in the drawing: rows that were held out, and centres that were optimised, may be beyond the grid. @param {import("./plot.js").Frame} frame @param {number} x @param {number} y */
const isWithin = ({ domains }, x, y) => x >= domains.x[0] && x <= domains.x[1] && y >= domains.y[0] && y <= domains.y[1];

/** @typedef {{ values: number[], level: number, name: string, label?: string }} Layer */

/** The value between nodes of an axis. @param {number[]} nodes @param {number} at */
function along(nodes, at) {
  const first = Math.min(Math.floor(at), nodes.length - 2);
  return nodes[first] + (at - first) * (nodes[first + 1] - nodes[first]);
}

/** The lines of a ring within the grid, without its parts along the border. @param {[number, number][]} ring @param {number} right @param {number} bottom */
function inside(ring, right, bottom) {
  const isOuter = (/** @type {[number, number]} */ [x, y]) => x <= 0 || y <= 0 || x >= right || y >= bottom;
  const first = ring.findIndex(isOuter);
  if (first < 0) return [[...ring, ring[0]]];
  const turned = [...ring.slice(first), ...ring.slice(0, first + 1)];
  /** @type {[number, number][][]} */
  const lines = [];
  turned.slice(1).forEach((point, index) => {
    const before = turned[index];
    if (isOuter(before) && isOuter(point)) return;
    if (isOuter(before)) lines.push([before]);
    lines[lines.length - 1].push(point);
  });
  return lines;
}

/** Each class by its colour, the darker the more probable it is. @param {Surface} surface @returns {Layer[]} */
const ofTwo = ({ fields }) =>
  fields.flatMap((field, index) => LEVELS.map((level) => ({ values: field.values, level, name: `line-${index} ${level === 0.5 ? "boundary" : ""}`, label: level === 0.5 ? (index ? share(level) : undefined) : share(level) })));

/** Each class where it is the most probable. @param {Surface} surface @returns {Layer[]} */
const ofMany = ({ fields }) =>
  fields.map((field, index) => ({
    values: field.values.map((value, at) => value - Math.max(...fields.map((one, other) => (other === index ? 0 : one.values[at])))),
    level: 0,
    name: `line-${index} boundary`,
  }));

/** @param {Surface} surface @returns {Layer[]} */
function ofNumbers({ fields }) {
  const domain = extent(fields[0].values);
  return ticks(domain, 7).filter((level) => level > domain[0]).map((level) => ({ values: fields[0].values, level, name: "level", label: number(level) }));
}

/** The label of a contour, at its point nearest to a place on the diagonal: so labels of neighbours are apart. @param {[number, number][][]} lines @param {string} text @param {import("./plot.js").Frame} frame @param {number} at */
function labelOf(lines, text, { size }, at) {
  const [right, bottom] = [size.width - size.right, size.height - size.bottom];
  const points = lines.flat().filter(([x, y]) => x > size.left + MARGIN && x < right - MARGIN && y > size.top + MARGIN / 2 && y < bottom - MARGIN / 2);
  if (points.length === 0) return null;
  const goal = [size.left + at * (right - size.left), size.top + at * (bottom - size.top)];
  const distance = (/** @type {[number, number]} */ [x, y]) => Math.hypot(x - goal[0], y - goal[1]);
  const [x, y] = points.reduce((one, other) => (distance(other) < distance(one) ? other : one));
  return html`<text class="level" x=${x} y=${y} dy="0.32em" text-anchor="middle">${text}</text>`;
}

/** @param {Surface} surface @param {boolean} hasRings @param {boolean} hasPoints */
function legendOf({ fields, isClasses }, hasRings, hasPoints) {
  /** @type {[string, string][]} */
  const signs = [];
  if (isClasses) fields.forEach((field, index) => signs.push([`area line-${index}`, `${field.name} is ${fields.length === 2 ? "more" : "the most"} probable`]));
  if (isClasses && fields.length === 2) signs.push(["contour", "75 and 90\u00a0% probable"]);
  if (hasPoints) signs.push(["point", isClasses ? "row, by its class" : "row of the data"]);
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
