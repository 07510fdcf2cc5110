/** The mark of the project. */

import { html } from "../html.js";

export function Mark() {
  return html`<svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
    <path d="M2 25C9 25 9 6 16 6s7 19 14 19" fill="none" stroke="currentColor" stroke-width="3" /><circle cx="16" cy="6" r="4" />
  </svg>`;
}
