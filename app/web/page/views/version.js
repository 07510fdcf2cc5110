/** A version: how good it is in a sentence, predictions for values of the inputs, and its report in numbers. */

import { duration, moment } from "../format.js";
import { html } from "../html.js";
import { AsCode } from "../parts/as-code.js";
import { verdict } from "../parts/metrics.js";
import { Report } from "../parts/report.js";
import { Shown } from "../parts/states.js";
import { VersionRecord } from "../parts/version-record.js";
import { WhatIf } from "../parts/what-if.js";
import { ROOT } from "../api.js";
import { link } from "../router.js";
import { useResource } from "../state.js";

const EXPORTS = { json: "JSON", npz: "npz", onnx: "ONNX", python: "Python" };

/** @param {{ name: string, number: string, query: URLSearchParams }} props */
export function VersionView({ name, number, query }) {
  const path = `v1/models/${encodeURIComponent(name)}/versions/${encodeURIComponent(number)}`;
  const version = useResource(path);
  return html`<${Shown} of=${version} what="the version" title=${`${name}, version ${number}`}>${(/** @type {any} */ data) => html`
    <div class="title">
      <h1><a class="name" href=${link(["models", name])}>${name}</a>, version ${data.version}</h1>
    </div>
    <p class="note">${data.job_id ? html`<a href=${link(["jobs", "training", data.job_id])}>Trained</a>` : "Imported"} ${moment(data.created_at)}${data.seconds ? ` in ${duration(data.seconds)}` : ""}</p>
    <${Actions} version=${data} />
    ${data.metrics && html`<${Verdict} version=${data} />`}
    ${data.inputs && data.target && html`<${WhatIf} version=${data} path=${path} query=${query} />`}
    <${Report} version=${data} path=${path} />
    <section><h2>Export</h2><p class="actions">${Object.entries(EXPORTS).map(([format, title]) => html`
      <a class="button" download href=${`${ROOT}${path}/export?format=${format}`}>${title}</a>`)}</p></section>
    <${VersionRecord} version=${data} path=${path} />
    <${AsCode} path=${path} python=${[`version = service.version(${JSON.stringify(name)}, ${data.version})`, "print(version.metrics)"]} />
  `}<//>`;
}

/** The actions on a version. @param {{ version: any }} props */
function Actions({ version }) {
  const { model, version: number } = version;
  const to = (/** @type {string} */ action) => link(["models", model, "versions", String(number), action]);
  return html`<div class="actions">
    ${version.inputs && html`<a class="button" href=${link(["batch"], { model, version: String(number) })}>Predict a dataset</a>`}
    ${version.inputs && version.target && html`<a class="button" href=${to("evaluate")}>Evaluate</a><a class="button" href=${to("promote")}>Promote</a>`}
    <a class="button" href=${link(["models", model], { version: String(number) })}>Set an alias</a>
  </div>`;
}

/** @param {{ version: any }} props */
function Verdict({ version }) {
  const { grade, text } = verdict(version);
  const warnings = version.warnings ?? [];
  return html`<p class=${`verdict ${grade}`}>${text}</p>
    ${warnings.length > 0 && html`<ul class="warnings">${warnings.map((/** @type {any} */ one) => html`<li>${one.detail}</li>`)}</ul>`}`;
}
