/** Pages of a list: the address has the one that is shown. */

import { html } from "../html.js";
import { link } from "../router.js";

/** The page before another, by the path of the list and the positions of both, as far as this visit knows it. */
const previous = /** @type {Map<string, string | null>} */ (new Map());

/**
 * The path of the page of a list that a query names.
 * @param {string} path
 * @param {URLSearchParams} query
 */
export const pageOf = (path, query) => (query.get("after") ? `${path}&after=${encodeURIComponent(query.get("after") ?? "")}` : path);

/**
 * Links to the pages around one.
 * @param {{ parts: string[], query: URLSearchParams, page: any }} props
 */
export function PageLinks({ parts, query, page }) {
  const { after, ...others } = Object.fromEntries(query);
  const name = (/** @type {string | undefined} */ position) => `${parts.join("/")} ${position ?? ""}`;
  const before = previous.get(name(after));
  if (page.after) previous.set(name(page.after), after ?? null);
  if (!after && !page.after) return null;
  const to = (/** @type {string} */ title, /** @type {string | null} */ position) => html`<a class="button" onClick=${toTop} href=${link(parts, position === null ? others : { ...others, after: position })}>${title}</a>`;
  return html`<div class="actions" role="navigation" aria-label="Pages">
    ${after && to("First page", null)} ${after && before && to("Previous page", before)} ${page.after && to("Next page", page.after)}
  </div>`;
}

/** The link is gone once its page is there, and the keyboard begins at the top of the view. */
function toTop() {
  document.getElementById("main")?.focus();
  scrollTo(0, 0);
}
