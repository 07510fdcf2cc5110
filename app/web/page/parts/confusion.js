/** The confusion matrix of an evaluation: rows by their class and the predicted one. */

import { count } from "../format.js";
import { html } from "../html.js";

const SHOWN = 12;

/** @param {{ diagnostics: any }} props */
export function Confusion({ diagnostics }) {
  const { classes, confusion } = diagnostics;
  const shown = classes.slice(0, SHOWN).map(String);
  return html`<section><h2>Confusion matrix</h2>
    <p class="note">Rows by their class, in lines, and by the predicted class, in columns${classes.length > SHOWN ? `; the first ${SHOWN} of ${count(classes.length)} classes` : ""}.</p>
    <div class=${`scroll ${shown.length < 4 ? "narrow" : ""}`} tabindex="0" role="region" aria-label="Confusion matrix"><table>
      <caption class="hidden">Confusion matrix</caption>
      <thead><tr><th scope="col">Class</th>${shown.map((/** @type {string} */ label) => html`<th scope="col" class="right name">predicted ${label}</th>`)}</tr></thead>
      <tbody>${shown.map((/** @type {string} */ label, /** @type {number} */ truth) => html`<tr key=${label}><th scope="row" class="name">${label}</th>
        ${shown.map((/** @type {string} */ _, /** @type {number} */ predicted) => html`<td class=${`right ${truth === predicted ? "hit" : ""}`}>${count(confusion[truth][predicted])}</td>`)}</tr>`)}</tbody>
    </table></div></section>`;
}
