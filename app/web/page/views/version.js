/** A version: how good it is in a sentence, predictions for values of the inputs, and its report in numbers. */

import { embedded } from "../embedded.js";
import { duration, moment } from "../format.js";
import { html } from "../html.js";
import { AsCode } from "../parts/as-code.js";
import { verdict } from "../parts/metrics.js";
import { Needs, usePermission } from "../parts/needs.js";
import { Report } from "../parts/report.js";
import { Shown } from "../parts/states.js";
import { VersionRecord } from "../parts/version-record.js";
import { WhatIf } from "../parts/what-if.js";
import { ComponentFigures, Components } from "./version/components.js";
import { Diagnostics } from "./version/diagnostics.js";
import { Effects } from "./version/effects.js";
import { ImageVersion } from "./version/image.js";
import { hasSurface, Surface } from "./version/surface.js";
import { ROOT } from "../api.js";
import { link } from "../router.js";
import { useResource } from "../state.js";

const EXPORTS = { json: "JSON", npz: "npz", onnx: "ONNX", python: "Python" };

/**
 * `Drawn` draws predictions, by default for values that are set.
 * @param {{ name: string, number: string, query: URLSearchParams, Drawn?: unknown }} props
 */
export function VersionView({ name, number, query, Drawn = Predictions }) {
  const path = `v1/models/${encodeURIComponent(name)}/versions/${encodeURIComponent(number)}`;
  const version = useResource(path);
  return html`<${Shown} of=${version} what="the version" title=${`${name}, version ${number}`}>${(/** @type {any} */ data) => html`
    <div class="title">
      <h1><${Link} to=${["models", name]}><span class="name">${name}</span><//>, version ${data.version}</h1>
    </div>
    <p class="note">${data.job_id ? html`<${Link} to=${["jobs", "training", data.job_id]}>Trained<//>` : "Imported"} ${moment(data.created_at)}${data.seconds ? ` in ${duration(data.seconds)}` : ""}</p>
    ${!embedded && html`<${Actions} version=${data} />`}
    ${data.metrics && html`<${Verdict} version=${data} />`}
    ${data.inputs && data.target && html`<${Drawn} version=${data} path=${path} query=${query} />`}
    ${data.target && html`<${Diagnostics} version=${data} path=${path} />`}
    ${data.height && html`<${ImageVersion} version=${data} path=${path} />`}
    ${data.variances && html`<${embedded ? ComponentFigures : Components} version=${data} path=${path} rows=${embedded?.components} />`}
    <${Report} version=${data} path=${path} />
    ${!embedded && html`<${VersionRecord} version=${data} path=${path} />`}
    ${!embedded && html`<${Exports} version=${data} path=${path} />`}
  `}<//>`;
}

/** A link within the page, which a report has as its text alone. @param {{ to: string[], children?: unknown }} props */
function Link({ to, children }) {
  return embedded ? html`<span>${children}</span>` : html`<a href=${link(to)}>${children}</a>`;
}

/** @param {{ version: any, path: string }} props */
function Exports({ version, path }) {
  const formats = version.height ? [] : Object.entries(EXPORTS);
  return html`<section><h2>Export</h2><p class="actions"><a class="button" download href=${`${ROOT}${path}/report`}>Report</a>${formats.map(([format, title]) => html`
      <a class="button" download href=${`${ROOT}${path}/export?format=${format}`}>${title}</a>`)}</p></section>
    <${AsCode} path=${path} python=${[`version = service.version(${JSON.stringify(version.model)}, ${version.version})`, "print(version.metrics)"]} />`;
}

/** What is predicted: for values that are set, over two inputs, and by each input. @param {{ version: any, path: string, query: URLSearchParams }} props */
function Predictions({ version, path, query }) {
  return html`<${Needs} scopes=${["predict"]} what="What if, with the effects of the inputs,"><${Drawings} version=${version} path=${path} query=${query} /><//>`;
}

/** @param {{ version: any, path: string, query: URLSearchParams }} props */
function Drawings({ version, path, query }) {
  const found = useResource(`${path}/baseline`);
  return html`<${Shown} of=${found} what="ranges of the inputs">${(/** @type {any} */ baseline) => html`
    <${WhatIf} version=${version} path=${path} baseline=${baseline} query=${query} />
    ${hasSurface(version, baseline) && html`<${Surface} version=${version} path=${path} baseline=${baseline} />`}
    ${version.inputs.length > 1 && html`<${Effects} version=${version} path=${path} baseline=${baseline} />`}
  `}<//>`;
}

/** The actions on a version. @param {{ version: any }} props */
function Actions({ version }) {
  const { model, version: number } = version;
  const to = (/** @type {string} */ action) => link(["models", model, "versions", String(number), action]);
  const [mayPredict, mayTrain] = [usePermission("predict", "train"), usePermission("train")];
  return html`<div class="actions">
    ${mayPredict && version.inputs && html`<a class="button" href=${link(["batch"], { model, version: String(number) })}>Predict a dataset</a>`}
    ${mayTrain && version.inputs && version.target && html`<a class="button" href=${to("evaluate")}>Evaluate</a><a class="button" href=${to("promote")}>Promote</a>`}
    ${mayTrain && html`<a class="button" href=${link(["models", model], { version: String(number) })}>Set an alias</a>`}
  </div>`;
}

/** @param {{ version: any }} props */
function Verdict({ version }) {
  const { grade, text } = verdict(version);
  const warnings = version.warnings ?? [];
  return html`<p class=${`verdict ${grade}`}>${text}</p>
    ${warnings.length > 0 && html`<ul class="warnings">${warnings.map((/** @type {any} */ one) => html`<li>${one.detail}</li>`)}</ul>`}`;
}
