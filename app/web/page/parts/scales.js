/** Linear scales of figures and their ticks. */

/**
 * The function that maps a domain to a range.
 * @param {[number, number]} domain
 * @param {[number, number]} range
 */
export function linear([from, to], [first, last]) {
  const width = to - from || 1;
  return (/** @type {number} */ value) => first + ((value - from) / width) * (last - first);
}

/** Steps of ticks, each the nearest on a logarithmic scale to ratios below its limit. @type {[number, number][]} */
const FACTORS = [[Math.SQRT2, 1], [Math.sqrt(10), 2], [Math.sqrt(50), 5]];

/**
 * Round numbers within a domain, about as many as requested: multiples of 1, 2 or 5 times a power of ten.
 * @param {[number, number]} domain
 * @param {number} wanted
 */
export function ticks([from, to], wanted) {
  const rough = (to - from) / wanted;
  if (!(rough > 0)) return [from];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * (FACTORS.find(([limit]) => rough / power < limit)?.[1] ?? 10);
  const found = [];
  for (let index = Math.ceil(from / step); index * step <= to + step * 1e-9; index += 1) found.push(index * step + 0); // -0 is 0
  return found;
}

/** The smallest domain that contains all values, and a margin. @param {number[]} values @param {number} [margin] @returns {[number, number]} */
export function extent(values, margin = 0) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return [0, 1];
  const space = (high - low || Math.abs(high) || 1) * margin;
  return [low - space, high + space];
}

/** The path through points. @param {[number, number][]} points */
export const path = (points) => points.map(([x, y], index) => `${index ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");

/** The closed path between two lines. @param {[number, number][]} upper @param {[number, number][]} lower */
export const area = (upper, lower) => `${path([...upper, ...[...lower].reverse()])}Z`;
