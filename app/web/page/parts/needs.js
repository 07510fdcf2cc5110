/** The permissions of a session. */

import { useContext } from "../vendor/hooks.js";
import { html } from "../html.js";
import { permits, Scopes } from "../session.js";

/** Content that needs one of some scopes; without them, a sentence. @param {{ scopes: string[], what?: string, children?: unknown }} props */
export function Needs({ scopes, what = "This", children }) {
  const own = useContext(Scopes);
  if (scopes.some((scope) => permits(own, scope))) return children;
  return html`<p class="note">${what} needs a key with the scope ${scopes.join(" or ")}.</p>`;
}

/** Return whether the session has one of some scopes. @param {string[]} scopes */
export function usePermission(...scopes) {
  const own = useContext(Scopes);
  return scopes.some((scope) => permits(own, scope));
}
