/** The settings, learned values and origins in which two versions differ. */

import { cell, count, duration, moment, words } from "../format.js";
import { html } from "../html.js";
import { link } from "../router.js";

const SHOWN = 60;

/** The members that are chosen before the fit. */
const SETTINGS = ["target_kind", "classes", "inputs", "ignored", "likelihood", "basis", "prior", "algorithm", "standardised", "missing", "split",
  "holdout", "validation", "seed", "max_score_loss", "local"];

/** @typedef {{ name: string, first: unknown, second: unknown }} Row */

/** @param {unknown} value @returns {value is Record<string, any>} */
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/** The items of a list by their names, or else their numbers. @param {any} list @returns {Record<string, any>} */
const named = (list) => Object.fromEntries((list ?? []).map((/** @type {any} */ item, /** @type {number} */ index) => [item?.name ?? item?.input ?? index + 1, item]));

/**
 * The differences of two values, by their paths; values of different types are not compared member by member.
 * @param {any} first
 * @param {any} second
 * @param {string} path
 * @returns {Row[]}
 */
function differences(first, second, path) {
  if (Array.isArray(first) || Array.isArray(second)) return differences(named(first), named(second), path);
  if (isObject(first) && isObject(second) && first.type === second.type) {
    const names = [...new Set([...Object.keys(first), ...Object.keys(second)])];
    return names.flatMap((name) => differences(first[name], second[name], `${path} ${name}`.trim()));
  }
  return JSON.stringify(first ?? null) === JSON.stringify(second ?? null) ? [] : [{ name: path.replaceAll("_", " "), first: summary(first), second: summary(second) }];
}

/** A value in words: an object by its type and by its members that are set. @param {any} value @returns {string} */
function summary(value) {
  if (value === undefined || value === null) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.slice(0, 8).map(summary).join(", ") + (value.length > 8 ? ", …" : "") || "none";
  if (typeof value !== "object") return words(cell(value));
  const isSet = (/** @type {[string, unknown]} */ [name, member]) => !["type", "name", "input"].includes(name) && member !== null && member !== false && member !== "none";
  const members = Object.entries(value).filter(isSet).map(([name, member]) => `${name.replaceAll("_", " ")} ${summary(member)}`);
  return [...(value.type ? [words(value.type)] : []), ...members].join(", ");
}

/** @param {any} version @param {string[]} members */
const some = (version, members) => Object.fromEntries(members.map((name) => [name, version[name]]));

/** @param {{ first: any, second: any }} props */
export function Settings({ first, second }) {
  return html`<section><h2>Settings that differ</h2>
    <${Rows} caption="Settings that differ" versions=${[first, second]} rows=${differences(some(first, SETTINGS), some(second, SETTINGS), "")} none="Both versions have the same settings." />
  </section>
  <section><h2>Learned values that differ</h2>
    <${Rows} caption="Learned values that differ" versions=${[first, second]} rows=${differences({ ...first.hyperparameters, termination: first.termination }, { ...second.hyperparameters, termination: second.termination }, "")} none="Both versions have the same learned values." />
  </section>`;
}

/** @param {{ first: any, second: any }} props */
export function Sizes({ first, second }) {
  const row = (/** @type {string} */ name, /** @type {(version: any) => unknown} */ read) => ({ name, first: read(first), second: read(second) });
  const whole = (/** @type {string} */ name) => (/** @type {any} */ version) => (version[name] === undefined ? undefined : count(version[name]));
  const rows = [
    row("Rows trained on", whole("rows")),
    row("Rows held out", whole("rows_held_out")),
    row("Rows dropped", whole("rows_dropped")),
    row("Functions", whole("functions")),
    row("Candidates", whole("candidates")),
    row("Models in the pool", (version) => version.members && count(version.members.length)),
    row("Log marginal likelihood, nats", (version) => version.evidence?.value),
    row("Training took", (version) => version.seconds && duration(version.seconds)),
  ].filter((one) => one.first !== undefined || one.second !== undefined);
  return html`<section><h2>Sizes</h2><${Rows} caption="Sizes" versions=${[first, second]} rows=${rows} none="" isNumeric /></section>`;
}

/** @param {{ versions: any[], lineages: any[] }} props */
export function Origins({ versions, lineages }) {
  const [first, second] = lineages;
  const row = (/** @type {string} */ name, /** @type {(lineage: any) => unknown} */ read) => ({ name, first: read(first), second: read(second) });
  const isSame = first.dataset && first.dataset.digest === second.dataset?.digest;
  const rows = [
    row("Dataset", ({ dataset }) => dataset && (dataset.exists ? html`<a class="name" href=${link(["datasets", dataset.id])}>${dataset.name}</a>` : `${dataset.name ?? "deleted"} (deleted)`)),
    row("Digest of the data", ({ dataset }) => dataset && html`<code>${dataset.digest.slice(0, 12)}…</code>`),
    row("Job", ({ job_id: job }) => (job ? html`<a href=${link(["jobs", "training", job])}>training</a>` : "imported")),
    row("Effort", ({ request }) => request?.effort),
    row("Newest version before", ({ parent }) => (parent ? `version ${parent.version}${parent.exists ? "" : " (deleted)"}` : "none")),
    row("Created", ({ created_at: at }) => moment(at)),
    row("Program", ({ software_version: program }) => program),
  ];
  return html`<section><h2>Lineage</h2>
    <p class="note">${isSame ? "Both were trained on the same data." : "They were trained on different data: metrics of their trainings are of different rows."}</p>
    <${Rows} caption="Lineage" versions=${versions} rows=${rows} none="" />
  </section>`;
}

/** A cell: what is not there is a dash. @param {any} value */
const shown = (value) => (value === undefined || value === null ? "–" : typeof value === "object" ? value : cell(value));

/** @param {{ caption: string, versions: any[], rows: Row[], none: string, isNumeric?: boolean }} props */
function Rows({ caption, versions, rows, none, isNumeric = false }) {
  if (rows.length === 0) return html`<p class="note">${none}</p>`;
  const side = isNumeric ? "right" : "name";
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}><table class="side-by-side">
    <caption class="hidden">${caption}</caption>
    <thead><tr><th scope="col"><span class="hidden">Member</span></th>${versions.map((one) => html`<th scope="col" class=${side}>Version ${one.version}</th>`)}</tr></thead>
    <tbody>${rows.slice(0, SHOWN).map((row) => html`<tr key=${row.name}>
      <th scope="row" class="name">${row.name}</th><td class=${side}>${shown(row.first)}</td><td class=${side}>${shown(row.second)}</td></tr>`)}</tbody>
  </table></div>${rows.length > SHOWN && html`<p class="note">The first ${SHOWN} of ${count(rows.length)} differences.</p>`}`;
}
