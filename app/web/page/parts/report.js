/** The report of a version in numbers. */

import { cell, columnFormat, count, deviation, number, percent, words } from "../format.js";
import { html } from "../html.js";
import { useResource } from "../state.js";
import { shortestWidths } from "./encoded-columns.js";
import { honest, metricText, NAMES } from "./metrics.js";
import { useMore } from "./more.js";
import { Shown } from "./states.js";
import { Text } from "./text.js";

/** @param {{ version: any, path: string }} props */
export function Report({ version, path }) {
  return html`
    ${version.metrics && html`<${Metrics} version=${version} />`}
    <${Fit} version=${version} />
    ${version.hyperparameters?.widths.length > 0 && html`<${Widths} version=${version} />`}
    ${version.alternatives?.length > 0 && html`<${Alternatives} alternatives=${version.alternatives} />`}
    ${version.functions > 0 && html`<${Vectors} version=${version} path=${path} />`}
  `;
}

/** @type {Record<string, string>} */
const MEASURED = { holdout: "Held-out rows", validation: "Cross-validation", leave_one_out: "Leave-one-out" };

/** @param {{ version: any }} props */
function Metrics({ version }) {
  const found = honest(version);
  if (!found) return null;
  const columns = Object.keys(MEASURED).filter((name) => version.metrics[name]);
  const names = Object.keys(NAMES).filter((name) => columns.some((column) => version.metrics[column][name] !== undefined));
  return html`<section><h2>Metrics</h2><div class="scroll" tabindex="0" role="region" aria-label="Metrics"><table>
    <caption class="hidden">Metrics</caption>
    <thead><tr><th scope="col">Metric</th>${columns.map((name) => html`<th scope="col" class="right">${MEASURED[name]}</th>`)}</tr></thead>
    <tbody>${names.map((name) => html`<tr key=${name}><th scope="row">${NAMES[name]}</th>
      ${columns.map((column) => html`<td class="right">${version.metrics[column][name] === undefined ? "" : metricText(name, version.metrics[column][name])}</td>`)}</tr>`)}</tbody>
  </table></div></section>`;
}

/** @type {Record<string, string>} */
const EVIDENCE = { exact: "exact", laplace: "by Laplace's approximation", lower_bound: "a lower bound" };

/** @param {{ version: any }} props */
function Fit({ version }) {
  const { hyperparameters: learned, evidence, rows } = version;
  const facts = [
    rows !== undefined && ["Rows", `${count(rows)} trained on${version.rows_held_out ? `, ${count(version.rows_held_out)} held out` : ""}${version.rows_dropped ? `, ${count(version.rows_dropped)} dropped` : ""}`],
    version.functions !== undefined && ["Functions", version.candidates === undefined ? count(version.functions) : `${count(version.functions)} of ${count(version.candidates)} candidates`],
    version.likelihood && ["Likelihood", words(version.likelihood.type)],
    version.prior && ["Prior", words(version.prior.type)],
    learned?.noise_sd && ["Noise", `sd ${number(learned.noise_sd)}`],
    learned?.signal_sd && ["Signal", `sd ${number(learned.signal_sd)}`],
    learned?.degrees_of_freedom && ["Degrees of freedom", number(learned.degrees_of_freedom)],
    learned?.temperature && ["Temperature", number(learned.temperature)],
    evidence && ["Log marginal likelihood", `${number(evidence.value)} nats, ${EVIDENCE[evidence.kind] ?? evidence.kind}`],
    version.score?.value != null && ["Score", `${number(version.score.value)} nats a row${version.score.standard_error ? ` ± ${deviation(version.score.standard_error)}` : ""}`],
    version.termination && ["Ended", version.termination.replaceAll("_", " ")],
  ].filter(Boolean);
  return html`<section><h2>Fit</h2><dl class="facts">${facts.map((/** @type {any} */ [name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl></section>`;
}

/** @param {{ version: any }} props */
function Widths({ version }) {
  const sorted = shortestWidths(version);
  if (sorted.length < 2) return null;
  const [least] = sorted;
  const hasGaps = sorted.some((one) => !version.inputs.some((/** @type {any} */ input) => input.name === one.input));
  return html`<section><h2>Inputs that matter</h2>
    <p class="note">The shorter the width, the faster predictions change with the input${version.standardised ? "; in standard deviations of the input" : ""}. Of a category it is the shortest of its values.${version.basis?.some((/** @type {any} */ one) => one.type === "inputs") ? " Inputs enter linearly, too, whatever their width." : ""}${hasGaps ? " A column “… missing” is 1 where the input has no value." : ""}</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Inputs that matter"><table>
    <caption class="hidden">Widths of the inputs</caption>
    <thead><tr><th scope="col">Input</th><th scope="col" class="right">Width</th><th scope="col">Compared with the first</th></tr></thead>
    <tbody>${sorted.slice(0, 20).map((one) => html`<tr key=${one.input}><th scope="row" class="name">${one.input}</th><td class="right">${number(one.width)}</td>
      <td><meter aria-label=${`Relevance of ${one.input}`} min="0" max="1" value=${least.width / one.width}></meter> ${percent(least.width / one.width)}</td></tr>`)}</tbody>
  </table></div></section>`;
}

/** @param {{ alternatives: any[] }} props */
function Alternatives({ alternatives }) {
  const name = (/** @type {any} */ one) => words([one.basis?.kernel?.type ?? one.basis?.type, one.basis?.warp === "evidence" && "with warps", one.prior?.type, one.likelihood?.noise_sd === "heteroscedastic" && "noise by input"]
    .filter(Boolean).join(", "));
  return html`<section><h2>Alternatives that were compared</h2><div class="scroll" tabindex="0" role="region" aria-label="Alternatives"><table>
    <caption class="hidden">Alternatives</caption>
    <thead><tr><th scope="col">Alternative</th><th scope="col" class="right">Score, nats a row</th><th scope="col">Not scored because</th></tr></thead>
    <tbody>${alternatives.map((one) => html`<tr><th scope="row">${name(one)}</th><td class="right">${number(one.score)}</td><td><${Text}>${one.reason ?? ""}<//></td></tr>`)}</tbody>
  </table></div></section>`;
}

/** @param {{ version: any, path: string }} props */
function Vectors({ version, path }) {
  const pages = `${path}/relevance-vectors?sort=weight&limit=${PAGE}`;
  const vectors = useResource(pages);
  return html`<section><h2>Functions, the largest weights first</h2><${Shown} of=${vectors} what="relevance vectors">${(/** @type {any} */ page) => html`
    <${VectorTable} version=${version} path=${pages} page=${page} />`}<//></section>`;
}

const PAGE = 10;

/** @param {{ version: any, path: string, page: any }} props */
function VectorTable({ version, path, page }) {
  const inputs = (version.inputs ?? []).slice(0, 6).map((/** @type {any} */ one) => one.name);
  const { items, button } = useMore(path, page);
  const [weight, sd] = ["weight_mean", "weight_sd"].map((name) => columnFormat(items.map((/** @type {any} */ one) => one[name])));
  const hasSd = items.some((/** @type {any} */ one) => one.weight_sd > 0);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Functions"><table>
      <caption class="hidden">Functions, the largest weights first</caption>
      <thead><tr><th scope="col">Function</th><th scope="col" class="right">Dataset row</th>${inputs.map((/** @type {string} */ name) => html`<th scope="col" class="right name">${name}</th>`)}
        <th scope="col" class="right">Weight</th>${hasSd && html`<th scope="col" class="right">sd</th>`}</tr></thead>
      <tbody>${items.map((/** @type {any} */ one) => html`<tr key=${one.number}>
        <th scope="row">${words(one.kind)}</th><td class="right">${one.row === null ? "" : one.row + 1}</td>
        ${inputs.map((/** @type {string} */ name) => html`<td class="right name">${cell(one.inputs?.[name] ?? one.shape.find((/** @type {any} */ part) => part.input === name)?.location)}</td>`)}
        <td class="right">${weight(one.weight_mean)}</td>${hasSd && html`<td class="right">${sd(one.weight_sd)}</td>`}</tr>`)}</tbody>
    </table></div>${button}`;
}
