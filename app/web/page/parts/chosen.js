/** The first of many names, and a filter for the others: a figure for each of a thousand inputs helps nobody. */

import { useState } from "../vendor/hooks.js";
import { count } from "../format.js";
import { html } from "../html.js";

/** @typedef {{ names: string[], total: number, matching: number, filter: string, setFilter: (filter: string) => void, most: number, showMore: () => void }} Choice */

/** The first `most` names that contain the filter, and as many more as are requested. @param {string[]} names @param {number} most @returns {Choice} */
export function useChosen(names, most) {
  const [filter, setFilter] = useState("");
  const [shown, setShown] = useState(most);
  const wanted = filter.trim().toLowerCase();
  const matching = wanted ? names.filter((name) => name.toLowerCase().includes(wanted)) : names;
  const refilter = (/** @type {string} */ text) => {
    setFilter(text);
    setShown(most);
  };
  return { names: matching.slice(0, shown), total: names.length, matching: matching.length, filter, setFilter: refilter, most, showMore: () => setShown(shown + most) };
}

/** The filter, where there are more names than are shown. @param {{ of: Choice, id: string, nouns: string }} props */
export function Chosen({ of: { names, total, matching, filter, setFilter, most }, id, nouns }) {
  if (total <= most) return null;
  const found = filter.trim() ? `${count(names.length)} of ${count(matching)} with this name` : `The first ${count(names.length)} of ${count(total)} ${nouns}`;
  return html`<div class="chosen"><label for=${id}>Filter ${nouns}</label>
    <input id=${id} type="search" autocomplete="off" spellcheck=${false} value=${filter} onInput=${(/** @type {any} */ event) => setFilter(event.currentTarget.value)} />
    <span class="note" role="status">${found}</span></div>`;
}

/** The button that shows more of the names. @param {{ of: Choice, nouns: string }} props */
export function MoreOf({ of: { names, matching, most, showMore }, nouns }) {
  if (names.length >= matching) return null;
  return html`<div class="actions"><button type="button" onClick=${showMore}>Show ${count(Math.min(most, matching - names.length))} more ${nouns}</button></div>`;
}
