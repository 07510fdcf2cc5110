/** A list that is read page by page. */

import { useState } from "../vendor/hooks.js";
import { get } from "../api.js";
import { html } from "../html.js";
import { useAction } from "../state.js";
import { Failure } from "./states.js";

/**
 * The items of the first page, those of the pages after it that were requested, and the button that requests another.
 * @param {string} path
 * @param {any} first
 */
export function useMore(path, first) {
  const [added, setAdded] = useState({ items: /** @type {any[]} */ ([]), after: /** @type {string | null | undefined} */ (undefined) });
  const after = added.after === undefined ? first.after : added.after;
  const action = useAction(async () => {
    const page = await get(`${path}${path.includes("?") ? "&" : "?"}after=${encodeURIComponent(after)}`);
    setAdded((last) => ({ items: [...last.items, ...page.items], after: page.after }));
  });
  const button = after && html`<p><button type="button" disabled=${action.isBusy} onClick=${() => action.start()}>Show more</button></p>
    ${action.problem && html`<${Failure} problem=${action.problem} />`}`;
  const idOf = (/** @type {any} */ item) => item.id ?? item.name ?? item.subject ?? item.number;
  const known = new Set(first.items.map(idOf));
  return { items: [...first.items, ...added.items.filter((item) => !known.has(idOf(item)))], button };
}
