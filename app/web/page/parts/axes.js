/** Axes of a figure. */

import { number, tick } from "../format.js";
import { html } from "../html.js";
import { ticks } from "./scales.js";

/**
 * `names`: the labels of the horizontal axis in place of numbers.
 * @param {{ x: (value: number) => number, y: (value: number) => number, domains: { x: [number, number], y: [number, number] },
 *   width: number, height: number, left: number, bottom: number, labels: { x: string, y: string },
 *   format?: { x?: (value: number) => string, y?: (value: number) => string }, names?: { at: number, name: string }[] }} props
 */
export function Axes({ x, y, domains, width, height, left, bottom, labels, format = {}, names }) {
  const base = height - bottom;
  const [ofX, ofY] = [format.x ?? tick, format.y ?? tick];
  const places = names ?? labelled(ticks(domains.x, width > 500 ? 7 : 5), ofX);
  return html`<g class="axes">
    ${labelled(ticks(domains.y, 5), ofY).map(({ at, name }) => html`<g key=${`y${at}`}>
      <line x1=${left} x2=${width} y1=${y(at)} y2=${y(at)} /><text x=${left - 8} y=${y(at)} dy="0.32em" text-anchor="end">${name}</text>
    </g>`)}
    ${places.map(({ at, name }) => html`<text key=${`x${at}`} x=${x(at)} y=${base + 18} text-anchor="middle">${name}</text>`)}
    <text class="label" x=${(left + width) / 2} y=${height - 4} text-anchor="middle">${labels.x}</text>
    <text class="label" x=${0} y=${12}>${labels.y}</text>
  </g>`;
}

const exact = new Intl.NumberFormat("en", { maximumSignificantDigits: 8 });

const PLAIN = /^−?[\d,]+(\.\d+)?$/;

/** Labels with the same number of decimals, where all are plain numbers. @param {string[]} names */
function aligned(names) {
  const decimals = names.map((name) => (name.split(".")[1] ?? "").length);
  const most = Math.max(...decimals);
  if (most === 0 || !names.every((name) => PLAIN.test(name))) return names;
  return names.map((name, index) => `${name}${decimals[index] === 0 ? "." : ""}${"0".repeat(most - decimals[index])}`);
}

/** Ticks with labels that differ: with more digits where a format gives several the same. One without a label stays so. @param {number[]} found @param {(value: number) => string} format */
export function labelled(found, format) {
  const names = found.map(format);
  const given = names.filter((name) => name !== "");
  const areDistinct = new Set(given).size === given.length;
  const shown = areDistinct ? names : found.map((at) => number(at, exact));
  return aligned(shown).map((name, index) => ({ at: found[index], name }));
}
