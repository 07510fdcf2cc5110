/** A text of the service, in which names of columns and members are between backticks. */

import { html } from "../html.js";

/** @param {{ children: string }} props */
export function Text({ children }) {
  return String(children).split("`").map((part, index) => (index % 2 ? html`<code>${part}</code>` : part));
}
