/** Contours of values on a grid, by marching squares: closed rings around all places with at least a level. */

/** @typedef {{ columns: number, rows: number, values: number[] }} Grid  values row by row */

/** The nodes at the corners of a cell, clockwise; edge k lies between corners k and k + 1. @type {[number, number][]} */
const CORNERS = [[0, 0], [1, 0], [1, 1], [0, 1]];

/**
 * The rings around the places whose values are at least the level, as points in units of cells. At the border of the grid
 * they follow it.
 * @param {Grid} grid
 * @param {number} level
 * @returns {[number, number][][]}
 */
export function contours(grid, level) {
  const { columns, rows } = grid;
  const valueAt = (/** @type {number} */ i, /** @type {number} */ j) => (i < 0 || j < 0 || i >= columns || j >= rows ? -Infinity : grid.values[j * columns + i]);
  /** @type {Map<string, { to: string, point: [number, number] }>} */
  const segments = new Map();
  for (let j = -1; j < rows; j += 1) {
    for (let i = -1; i < columns; i += 1) {
      const nodes = CORNERS.map(([right, down]) => ({ i: i + right, j: j + down, value: valueAt(i + right, j + down) }));
      const isInside = nodes.map((node) => node.value >= level);
      for (let entry = 0; entry < 4; entry += 1) {
        const next = (entry + 1) % 4;
        if (isInside[entry] || !isInside[next]) continue;
        let exit = next;
        while (isInside[(exit + 1) % 4]) exit = (exit + 1) % 4;
        const [outer, inner] = [nodes[entry], nodes[next]];
        segments.set(edge(i, j, entry), { to: edge(i, j, exit), point: crossing(outer, inner, level) });
      }
    }
  }
  return closed(segments);
}

/** The name of an edge, the same in both of its cells. @param {number} i @param {number} j @param {number} side */
const edge = (i, j, side) => [`h${i},${j}`, `v${i + 1},${j}`, `h${i},${j + 1}`, `v${i},${j}`][side];

/**
 * @typedef {{ i: number, j: number, value: number }} Node
 * @param {Node} outer @param {Node} inner @param {number} level
 * @returns {[number, number]}
 */
function crossing(outer, inner, level) {
  const share = outer.value === -Infinity ? 0 : (inner.value - level) / (inner.value - outer.value || 1);
  return [inner.i + share * (outer.i - inner.i), inner.j + share * (outer.j - inner.j)];
}

/** The rings that segments form. @param {Map<string, { to: string, point: [number, number] }>} segments */
function closed(segments) {
  const rings = [];
  while (segments.size) {
    const ring = [];
    let [at] = segments.keys();
    for (let found = segments.get(at); found; found = segments.get(at)) {
      ring.push(found.point);
      segments.delete(at);
      at = found.to;
    }
    rings.push(ring);
  }
  return rings;
}
