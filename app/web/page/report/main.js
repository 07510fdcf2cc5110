/** The view of a version as a file of its own, with the responses that it needs. */

import { render } from "../vendor/preact.js";
import { embedded } from "../embedded.js";
import { html } from "../html.js";
import { Mark } from "../parts/mark.js";
import { applyTheme, ThemeSwitch } from "../parts/theme.js";
import { VersionView } from "../views/version.js";
import { Predictions } from "./predictions.js";

/** @param {{ report: import("../embedded.js").Embedded }} props */
function Report({ report }) {
  return html`
    <header><span class="mark"><${Mark} />Relevance</span><span class="note">Report</span><div class="tools"><${ThemeSwitch} /></div></header>
    <main>
      <${VersionView} name=${report.model} number=${String(report.version)} query=${new URLSearchParams()} Drawn=${Predictions} />
      <${Origin} origin=${report.origin} service=${report.service} />
    </main>
  `;
}

/** @param {{ origin: any, service: string }} props */
function Origin({ origin, service }) {
  const facts = [
    origin.description && ["Description", origin.description],
    origin.aliases.length > 0 && ["Aliases", origin.aliases.join(", ")],
    ["Training data", origin.dataset ?? "deleted"],
    ["SHA-256 of the data", html`<code>${origin.digest}</code>`],
    origin.imported && ["Imported from", origin.imported],
    ["Trained by", `Relevance ${origin.software}`],
    ["Report by", `Relevance ${service}`],
  ].filter(Boolean);
  return html`<section><h2>Origin</h2><dl class="facts">${facts.map((/** @type {any} */ [name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl></section>`;
}

applyTheme();
const root = document.getElementById("page");
if (root && embedded) render(html`<${Report} report=${embedded} />`, root);
