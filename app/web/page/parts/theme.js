/** Light, dark, or as the system is. */

import { useState } from "../vendor/hooks.js";
import { html } from "../html.js";

const STORED = "relevance-theme";
const NAMES = { auto: "System theme", light: "Light", dark: "Dark" };

function stored() {
  try {
    return localStorage.getItem(STORED) ?? "auto";
  } catch {
    return "auto";
  }
}

/** @param {string} theme */
export function applyTheme(theme = stored()) {
  document.documentElement.dataset.theme = theme;
}

export function ThemeSwitch() {
  const [theme, setTheme] = useState(stored);
  const choose = (/** @type {Event & { currentTarget: HTMLSelectElement }} */ event) => {
    const chosen = event.currentTarget.value;
    setTheme(chosen);
    applyTheme(chosen);
    try {
      localStorage.setItem(STORED, chosen);
    } catch {
      // A browser that stores nothing keeps the theme until the page is closed.
    }
  };
  return html`<label class="theme">
    <span class="hidden">Theme</span>
    <select value=${theme} onChange=${choose}>
      ${Object.entries(NAMES).map(([value, name]) => html`<option value=${value}>${name}</option>`)}
    </select>
  </label>`;
}
