/** Two versions of a model side by side: metrics with differences, settings, sizes, lineage. */

import { useState } from "../vendor/hooks.js";
import { html } from "../html.js";
import { AsCode } from "../parts/as-code.js";
import { versionOf } from "../parts/chooser.js";
import { DatasetLink } from "../parts/dataset-link.js";
import { flat, MetricTable } from "../parts/metric-table.js";
import { honest } from "../parts/metrics.js";
import { Empty, Failure, Loading } from "../parts/states.js";
import { Origins, Settings, Sizes } from "../parts/version-differences.js";
import { goTo, link } from "../router.js";
import { useResource } from "../state.js";

/** @param {{ name: string, query: URLSearchParams }} props */
export function Compare({ name, query }) {
  const model = `v1/models/${encodeURIComponent(name)}`;
  const [first, second] = [query.get("first") ?? "", query.get("second") ?? ""];
  return html`
    <h1>Compare versions of <a class="name" href=${link(["models", name])}>${name}</a></h1>
    <${Choice} key=${`${first} ${second}`} name=${name} first=${first} second=${second} />
    ${first && second
      ? html`<${Pair} key=${`${first} ${second}`} paths=${[first, second].map((one) => `${model}/versions/${encodeURIComponent(one)}`)} />`
      : html`<${Empty} title="Choose two versions"><p>A version is a number or an alias.</p><//>`}
    ${first && second && html`<${AsCode} path=${`${model}/versions/{${encodeURIComponent(first)},${encodeURIComponent(second)}}`} python=${[
      `for version in (${JSON.stringify(versionOf(first))}, ${JSON.stringify(versionOf(second))}):`,
      `    print(service.version(${JSON.stringify(name)}, version).metrics)`,
    ]} />`}
  `;
}

/** @param {{ name: string, first: string, second: string }} props */
function Choice({ name, first: one, second: other }) {
  const [first, setFirst] = useState(one);
  const [second, setSecond] = useState(other);
  const show = (/** @type {string} */ left, /** @type {string} */ right) => goTo(link(["models", name, "compare"], { first: left, second: right }));
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    show(first.trim(), second.trim());
  };
  const field = (/** @type {string} */ id, /** @type {string} */ label, /** @type {string} */ value, /** @type {(value: string) => void} */ set) => html`<div class="field">
    <label for=${id}>${label}</label>
    <input id=${id} required size="10" autocomplete="off" spellcheck=${false} value=${value} onInput=${(/** @type {any} */ event) => set(event.currentTarget.value)} /></div>`;
  return html`<form class="filters" onSubmit=${submit}>
    ${field("first", "Version", first, setFirst)} ${field("second", "With version", second, setSecond)}
    <div class="actions end"><button class="primary">Compare</button>
      ${one && other && html`<button type="button" onClick=${() => show(other, one)}>Swap</button>`}</div>
  </form>`;
}

/** @param {{ paths: string[] }} props */
function Pair({ paths }) {
  const versions = paths.map(useResource);
  const lineages = paths.map((path) => useResource(`${path}/lineage`));
  const evaluations = paths.map((path) => useResource(`${path}/evaluations?limit=50`));
  const failed = versions.find((one) => one.error && !one.data);
  if (failed) return html`<${Failure} problem=${failed.error} retry=${failed.reload} />`;
  if (versions.some((one) => !one.data)) return html`<${Loading} what="both versions" />`;
  const [first, second] = versions.map((one) => one.data);
  return html`
    <${Metrics} first=${first} second=${second} />
    ${evaluations.every((one) => one.data) && html`<${Evaluated} versions=${[first, second]} evaluations=${evaluations.map((one) => one.data.items)} />`}
    <${Sizes} first=${first} second=${second} />
    <${Settings} first=${first} second=${second} />
    ${lineages.every((one) => one.data) && html`<${Origins} versions=${[first, second]} lineages=${lineages.map((one) => one.data)} />`}
  `;
}

/** @param {any} version */
const title = (version) => html`<a href=${link(["models", version.model, "versions", String(version.version)])}>Version ${version.version}</a>`;

/** @param {{ first: any, second: any }} props */
function Metrics({ first, second }) {
  const found = [first, second].map(honest);
  if (found.every((one) => one === null)) return html`<p class="note">Neither version was measured in its training.</p>`;
  const [one, other] = found.map((each) => each?.how ?? "not measured");
  const note = one === other ? `Both measured ${one}.` : `Version ${first.version} measured ${one}, version ${second.version} ${other}: these figures can't be compared.`;
  return html`<section><h2>Metrics of the trainings</h2><p class="note">${note}</p>
    <${MetricTable} caption="Metrics of the trainings" isCompared=${one === other} columns=${[first, second].map((version, index) => ({ title: title(version), metrics: found[index]?.metrics }))} />
  </section>`;
}

/**
 * The newest evaluations of both versions on the same dataset, where there are some.
 * @param {{ versions: any[], evaluations: any[][] }} props
 */
function Evaluated({ versions, evaluations: [ones, others] }) {
  const done = (/** @type {any[]} */ jobs) => jobs.filter((job) => job.result);
  const one = done(ones).find((job) => done(others).some((each) => each.dataset_id === job.dataset_id));
  if (!one) return html`<section><h2>Metrics on the same rows</h2>
    <p class="note">There is no dataset on which both were evaluated. ${versions.map((version) => html`<a href=${link(["models", version.model, "versions", String(version.version), "evaluate"])}>Evaluate version ${version.version}</a> `)}</p></section>`;
  const other = done(others).find((job) => job.dataset_id === one.dataset_id);
  return html`<section><h2>Metrics on the same rows</h2>
    <p class="note">Both evaluated on <${DatasetLink} id=${one.dataset_id} />.</p>
    <${MetricTable} caption="Metrics on the same rows" isCompared columns=${[one, other].map((job, index) => ({ title: title(versions[index]), metrics: flat(job.result) }))} />
  </section>`;
}
