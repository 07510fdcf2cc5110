/** The frame of a figure: its title, the drawing, a sentence, and a table that say the same. */

import { useState } from "../vendor/hooks.js";
import { html } from "../html.js";
import { Axes } from "../parts/axes.js";
import { linear } from "../parts/scales.js";

/**
 * @typedef {{ width: number, height: number, left: number, right: number, top: number, bottom: number }} Size
 * @typedef {{ head: string[], rows: unknown[][] }} Table
 * @typedef {{ x: (value: number) => number, y: (value: number) => number, size: Size,
 *   domains: { x: [number, number], y: [number, number] } }} Frame
 */

/** @type {Record<"wide" | "half" | "small", Size>} */
export const SIZES = {
  wide: { width: 640, height: 260, left: 64, right: 8, top: 24, bottom: 48 },
  half: { width: 480, height: 270, left: 56, right: 18, top: 24, bottom: 46 },
  small: { width: 320, height: 210, left: 52, right: 12, top: 22, bottom: 42 },
};

/** The scales of a drawing. @param {Size} size @param {[number, number]} x @param {[number, number]} y @returns {Frame} */
export function frameOf(size, x, y) {
  return {
    size,
    domains: { x, y },
    x: linear(x, [size.left, size.width - size.right]),
    y: linear(y, [size.height - size.bottom, size.top]),
  };
}

/**
 * @param {{ title: string, text: string, table: Table, frame: Frame, labels: { x: string, y: string }, name?: string, legend?: unknown,
 *   format?: { x?: (value: number) => string, y?: (value: number) => string }, names?: { at: number, name: string }[],
 *   tools?: unknown, children?: unknown }} props
 */
export function Plot({ title, text, table, frame, labels, name = "", legend, format, names, tools, children }) {
  const { size } = frame;
  return html`<figure class=${`plot ${size.width < 400 ? "small" : ""} ${name}`}>
    <h3 class="name">${title}</h3>
    ${tools}
    <svg class="figure" viewBox=${`0 0 ${size.width} ${size.height}`} role="img" aria-label=${`${title}. ${text}`}>
      <${Axes} ...${frame} ...${size} width=${size.width - size.right} labels=${labels} format=${format} names=${names} />
      ${children}
    </svg>
    <figcaption>${legend}<p class="note">${text}</p><${AsTable} title=${title} table=${table} /></figcaption>
  </figure>`;
}

/** The table is drawn once it is opened. @param {{ title: string, table: Table }} props */
function AsTable({ title, table }) {
  const [isOpen, setOpen] = useState(false);
  return html`<details class="as-table" onToggle=${(/** @type {any} */ event) => setOpen(event.currentTarget.open)}>
    <summary>As a table<span class="hidden">: ${title}</span></summary>
    ${isOpen && html`<div class="scroll" tabindex="0" role="region" aria-label=${title}><table>
      <caption class="hidden">${title}</caption>
      <thead><tr>${table.head.map((one, index) => html`<th scope="col" class=${index ? "right" : ""}>${one}</th>`)}</tr></thead>
      <tbody>${table.rows.map(([first, ...others]) => html`<tr><th scope="row" class="name">${first}</th>${others.map((one) => html`<td class="right">${one}</td>`)}</tr>`)}</tbody>
    </table></div>`}
  </details>`;
}

/** A legend: the class of each sign, and its meaning. @param {{ of: [string, string][] }} props */
export const Legend = ({ of }) => html`<ul class="legend">${of.map(([sign, meaning]) => html`<li class=${sign}>${meaning}</li>`)}</ul>`;
