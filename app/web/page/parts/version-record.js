/** The record of a version: its aliases, evaluations and lineage; and its deletion. */

import { count, moment } from "../format.js";
import { html } from "../html.js";
import { goTo, link } from "../router.js";
import { useResource } from "../state.js";
import { DatasetLink } from "./dataset-link.js";
import { State } from "./job-row.js";
import { flat } from "./metric-table.js";
import { metricText } from "./metrics.js";
import { usePermission } from "./needs.js";
import { Removal } from "./removal.js";
import { Shown } from "./states.js";

/** @param {{ version: any, path: string }} props */
export function VersionRecord({ version, path }) {
  const { model, version: number } = version;
  return html`
    ${version.target && html`<${Evaluations} path=${path} version=${version} />`}
    <${Lineage} version=${version} path=${path} />
    <${Removal} path=${path} title="Delete the version" onDone=${() => goTo(link(["models", model]))}
      question=${`Delete version ${number} of ${model}? Its number is not used again. This can't be undone.`} />
  `;
}

const SHOWN = 10;

/** @param {{ path: string, version: any }} props */
function Evaluations({ path, version }) {
  const evaluations = useResource(`${path}/evaluations?limit=${SHOWN}`);
  const mayEvaluate = usePermission("train");
  const evaluate = link(["models", version.model, "versions", String(version.version), "evaluate"]);
  return html`<section><h2>Evaluations</h2><${Shown} of=${evaluations} what="evaluations">${(/** @type {any} */ page) => page.items.length === 0
    ? html`<p class="note">Not evaluated on another dataset yet. ${mayEvaluate && html`<a href=${evaluate}>Evaluate it</a>`}</p>`
    : html`<${Table} jobs=${page.items} />${page.has_more && html`<p class="note">The newest ${SHOWN}.</p>`}`}<//></section>`;
}

/** @param {{ jobs: any[] }} props */
function Table({ jobs }) {
  const metrics = jobs.map((job) => job.result && flat(job.result));
  const names = metrics.some((one) => one?.rmse !== undefined) ? { rmse: "RMSE", nll: "NLL, nats", coverage_95: "In 95 % interval" } : { error: "Wrong", log_loss: "Log loss, nats", auc: "AUC" };
  const text = (/** @type {any} */ found, /** @type {string} */ name) => (typeof found?.[name] === "number" ? metricText(name, found[name]) : "–");
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Evaluations"><table>
    <caption class="hidden">Evaluations</caption>
    <thead><tr><th scope="col">Created</th><th scope="col">State</th><th scope="col">Dataset</th><th scope="col" class="right">Rows</th>
      ${Object.values(names).map((title) => html`<th scope="col" class="right">${title}</th>`)}</tr></thead>
    <tbody>${jobs.map((job, index) => html`<tr key=${job.id}>
      <th scope="row"><a href=${link(["jobs", "evaluation", job.id])}>${moment(job.created_at)}</a></th><td><${State} state=${job.state} /></td>
      <td><${DatasetLink} id=${job.dataset_id} /></td><td class="right">${job.result ? count(job.result.rows) : "–"}</td>
      ${Object.keys(names).map((name) => html`<td class="right">${text(metrics[index], name)}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

/** @param {{ version: any, path: string }} props */
function Lineage({ version, path }) {
  const lineage = useResource(`${path}/lineage`);
  const model = useResource(`v1/models/${encodeURIComponent(version.model)}`);
  const aliases = Object.entries(model.data?.aliases ?? {}).filter(([, number]) => number === version.version).map(([alias]) => alias);
  return html`<section><h2>Lineage</h2><${Shown} of=${lineage} what="the lineage">${(/** @type {any} */ data) => {
    const { dataset, job_id: job, parent, imported, software_version: program } = data;
    const facts = [
      aliases.length > 0 && ["Aliases", html`<span>${aliases.map((alias) => html`<span class="tag name">${alias}</span>`)}</span>`],
      dataset && ["Dataset", html`${dataset.exists ? html`<a class="name" href=${link(["datasets", dataset.id])}>${dataset.name}</a>` : html`<span class="name">${dataset.name ?? ""}</span> (deleted)`}, SHA-256 <code>${dataset.digest.slice(0, 16)}…</code>`],
      job && ["Job", html`<a href=${link(["jobs", "training", job])}>training</a>`],
      imported && ["Imported from", html`<span class="name">${imported.model}, version ${imported.version}</span>`],
      parent && ["Newest version before", parent.exists ? html`<a href=${link(["models", data.model, "versions", String(parent.version)])}>version ${parent.version}</a>, <a href=${link(["models", data.model, "compare"], { first: String(parent.version), second: String(data.version) })}>compare with it</a>` : `version ${parent.version} (deleted)`],
      ["Program", program],
    ].filter(Boolean);
    return html`<dl class="facts">${facts.map((/** @type {any} */ [name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
  }}<//></section>`;
}
