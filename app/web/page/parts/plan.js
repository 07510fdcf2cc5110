/** What a training does, as the service has chosen it, with its reasons. */

import { counted, words } from "../format.js";
import { html } from "../html.js";
import { DatasetLink } from "./dataset-link.js";
import { Text } from "./text.js";

/** @param {{ job: any }} props */
export function Plan({ job }) {
  const facts = [
    ["Task", html`${job.task}. <${Text}>${job.task_reason ?? ""}<//>`],
    ["Dataset", html`<${DatasetLink} id=${job.dataset_id} />`],
    job.target && ["Target", html`<span class="name">${job.target}</span>`],
    job.classes?.length && ["Classes", job.classes.join(", ")],
    job.inputs && ["Inputs", html`<span class="name">${job.inputs.map((/** @type {any} */ one) => `${one.name} (${one.kind})`).join(", ")}</span>`],
    job.ignored?.length && ["Ignored", html`<ul>${job.ignored.map((/** @type {any} */ one) => html`<li><span class="name">${one.name}</span>: <${Text}>${one.reason}<//></li>`)}</ul>`],
    job.likelihood && ["Likelihood", words(job.likelihood.type)],
    job.prior && ["Prior", words(job.prior.type)],
    job.basis && ["Functions", job.basis.map(functionName).join(", ")],
    job.compared_models?.length && ["Compared with", `${counted(job.compared_models.length + (job.pool?.length ?? 0), "alternative")}; the best is kept`],
    job.holdout !== undefined && ["Held-out rows", job.holdout ? `${Math.round(100 * job.holdout)} %` : "none"],
    job.effort && ["Effort", job.effort],
  ].filter(Boolean);
  return html`<section><h2>What was chosen, and why</h2>
    <dl class="facts">${facts.map((/** @type {any} */ fact) => html`<div><dt>${fact[0]}</dt><dd>${fact[1]}</dd></div>`)}</dl>
  </section>`;
}

/** @param {any} basis */
function functionName(basis) {
  const name = basis.type === "kernel" ? `${basis.kernel.type} kernels` : basis.type === "inputs" ? "the inputs themselves" : basis.type;
  return words(name);
}
