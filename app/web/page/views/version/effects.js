/** The effects of the inputs, those that matter most first. */

import { useEffect, useMemo, useState } from "../../vendor/hooks.js";
import { post } from "../../api.js";
import { python } from "../../code.js";
import { commonDomain, effectOf, EffectPlot } from "../../figures/effect.js";
import { Legend } from "../../figures/plot.js";
import { count } from "../../format.js";
import { html } from "../../html.js";
import { AsCode } from "../../parts/as-code.js";
import { Chosen, MoreOf, useChosen } from "../../parts/chosen.js";
import { inputOf, shortestWidths } from "../../parts/encoded-columns.js";
import { initialValue } from "../../parts/input-field.js";
import { useSample } from "../../parts/sample.js";
import { Failure, Loading } from "../../parts/states.js";
import { WhenSeen } from "../../parts/when-seen.js";
import { useResource } from "../../state.js";

const SHOWN = 6;
const POINTS = 25;
const INDIVIDUAL = 10;
const SAMPLE = 50;
const WEIGHTS = 100;
/** Rows without gaps that suffice; those with gaps may be averages over 64 rows each. */
const FEW = 10;
/** Rows with many inputs are sent again for each effect. */
const MAX_CELLS = 20_000;

/**
 * Profiles by version: they never change, and are predicted once in a visit.
 * @type {Map<string, Map<string, any>>}
 */
const kept = new Map();
const MAX_KEPT = 10;

/** @param {{ version: any, path: string, baseline: any }} props */
export const Effects = (props) => html`<section class="effects"><h2>Effects of the inputs</h2><${WhenSeen}><${Ordered} ...${props} /><//></section>`;

/** @param {{ version: any, path: string, baseline: any }} props */
function Ordered(props) {
  const { version, path } = props;
  const isLinear = version.inputs.length > SHOWN && !hasWidths(version);
  const weights = useResource(isLinear ? `${path}/relevance-vectors?sort=weight&limit=${WEIGHTS}` : null);
  if (isLinear && !weights.data && !weights.error) return html`<${Loading} what="effects" />`;
  return html`<${Sorted} ...${props} functions=${weights.data?.items ?? []} />`;
}

/** @param {{ version: any, path: string, baseline: any, functions: any[] }} props */
function Sorted({ version, path, baseline, functions }) {
  const rows = useSample(version, SAMPLE);
  const names = useMemo(() => byRelevance(version, functions), [version, functions.length]);
  const table = useMemo(() => rows && tableOf(version, rows, baseline), [version, rows, baseline]);
  const chosen = useChosen(names, SHOWN);
  const isKnown = table?.isSample || baseline.inputs.length === version.inputs.length;
  const { profiles, problem } = useProfiles(version, path, isKnown ? table : null, chosen.names);
  const found = chosen.names.filter((name) => profiles.has(name)).map((name) => profiles.get(name));
  if (rows && rows.length === 0 && baseline.inputs.length < version.inputs.length) {
    return html`<p class="note">The dataset was deleted, and of ${count(version.inputs.length)} inputs only ${count(baseline.inputs.length)} have known values.</p>`;
  }
  const body = table && { inputs: [names[0]], points: POINTS, ...table.body };
  return html`${table && html`<p class="note">${table.note} ${orderOf(version)}</p>`}
    <${Chosen} of=${chosen} id="filter-effects" nouns="inputs" />
    ${problem && html`<${Failure} problem=${problem} />`}
    <${EffectPlots} version=${version} baseline=${baseline} profiles=${found} />
    ${!problem && found.length < chosen.names.length && html`<${Loading} what="effects" />`}
    <${MoreOf} of=${chosen} nouns="inputs" />
    ${table && table.isSample && table.body.rows.length * table.body.names.length < 500 && html`<${AsCode} path=${`${path}/profile`} body=${body}
      python=${[`found = service.registry.profile(${JSON.stringify(version.model)}, ${python([names[0]])}, table=${python(table.body)}, version=${version.version})`, "print(found.points)"]} />`}`;
}

/** The order and the scale of the figures. @param {any} version */
export const orderOf = ({ classes }) => `Sorted by how much the prediction changes over the values that the data have${classes.length ? "" : "; all on one scale"}.`;

/** The figures of profiles. @param {{ version: any, baseline: any, profiles: any[] }} props */
export function EffectPlots({ version, baseline, profiles }) {
  const histograms = new Map(baseline.inputs.map((/** @type {any} */ one) => [one.name, one]));
  const effects = profiles.map((profile) => effectOf(profile, histograms.get(profile.inputs[0].name)));
  const sorted = effects.sort((one, other) => other.importance - one.importance);
  if (sorted.length === 0) return null;
  const domain = commonDomain(sorted);
  return html`<${Legend} of=${legendOf(sorted, version)} />
    <div class="plots three">${sorted.map((effect) => html`<${EffectPlot} key=${effect.input.name} effect=${effect} domain=${domain} target=${version.target} histogram=${histograms.get(effect.input.name)} />`)}</div>`;
}

/** @param {import("../../figures/effect.js").Effect[]} effects @param {any} version @returns {[string, string][]} */
function legendOf(effects, version) {
  const [{ lines, profile }] = effects;
  const average = lines.length > 1
    ? lines.map((line, index) => /** @type {[string, string]} */ ([`line-${index}`, `average probability of ${line.label}`]))
    : [/** @type {[string, string]} */ (["line-0", version.classes.length ? `average probability of ${lines[0].label}` : "average prediction"])];
  const isNumeric = effects.some((one) => one.input.kind === "number" || one.input.kind === "timestamp");
  if (profile.band === "mean" || profile.band === "pooled_mean") average.push(["fit", "95\u00a0% of the average, without noise"]);
  if (isNumeric && profile.points[0].individual.length) average.push(["single", "single rows"]);
  if (isNumeric) average.push(["rug", "quantiles of the data"]);
  return average;
}

/** True if the inputs have widths of their own. @param {any} version */
const hasWidths = (version) => (version.hyperparameters?.widths ?? []).some((/** @type {any} */ one) => one.input !== null);

/**
 * The names of the inputs: those with the shortest widths first, since predictions change fastest with them, and of a
 * version without widths those with the largest weights.
 * @param {any} version @param {any[]} functions  the largest weights first
 */
function byRelevance(version, functions) {
  const names = version.inputs.map((/** @type {any} */ one) => /** @type {string} */ (one.name));
  const ordered = [...shortestWidths(version).map((one) => one.input), ...functions.flatMap(({ input }) => (input ? [inputOf(input, names)] : [])), ...names];
  return [...new Set(ordered)].filter((name) => names.includes(name));
}

/**
 * The rows to average over: those of the data without gaps, or few with them; without any, the middle of the data.
 * @param {any} version @param {import("../../parts/sample.js").Row[]} sample @param {any} baseline
 */
function tableOf(version, sample, baseline) {
  const names = version.inputs.map((/** @type {any} */ one) => one.name);
  const most = Math.max(10, Math.floor(MAX_CELLS / names.length));
  const every = sample.map(({ cells }) => names.map((/** @type {string} */ name) => cells[name] ?? null));
  const whole = every.filter((row) => row.every((/** @type {unknown} */ cell) => cell !== null));
  const rows = whole.length >= FEW ? whole.slice(0, most) : every.slice(0, FEW);
  if (rows.length > 0) return { isSample: true, body: { names, rows }, note: `The prediction averaged over ${count(rows.length)} rows of the data, all with the same value of the input.` };
  const middle = (/** @type {any} */ input) => initialValue(input);
  const ends = ["min", "max"].map((end) => baseline.inputs.map((/** @type {any} */ input) => (input.kind === "number" && input.min !== null ? input[end] : middle(input))));
  return { isSample: false, body: { names: baseline.inputs.map((/** @type {any} */ one) => one.name), rows: ends }, note: "The dataset was deleted: averaged over the least and the greatest values of all inputs." };
}

/**
 * The profiles of inputs, requested one after another and kept.
 * @param {any} version @param {string} path @param {ReturnType<typeof tableOf> | null} table @param {string[]} names
 */
function useProfiles(version, path, table, names) {
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const [, setRound] = useState(0);
  const profiles = table ? keptProfiles([version.model, version.version, version.created_at, table.isSample, table.body.rows.length].join(" ")) : NONE;
  const individual = version.classes.length > 2 ? 0 : INDIVIDUAL;
  const key = names.join("\n");
  useEffect(() => {
    if (!table) return undefined;
    const controller = new AbortController();
    const load = async () => {
      for (const name of names) {
        if (profiles.has(name)) continue;
        profiles.set(name, await post(`${path}/profile`, { inputs: [name], points: POINTS, individual: Math.min(individual, table.body.rows.length), ...table.body }, controller.signal));
        setRound((last) => last + 1);
      }
      setProblem(null);
    };
    load().catch((error) => controller.signal.aborted || setProblem(error));
    return () => controller.abort();
  }, [table, key]);
  return { profiles, problem };
}

/** @type {Map<string, any>} */
const NONE = new Map();

/** @param {string} key */
function keptProfiles(key) {
  const found = kept.get(key) ?? new Map();
  if (!kept.has(key)) kept.set(key, found);
  for (const oldest of kept.keys()) {
    if (kept.size <= MAX_KEPT) break;
    kept.delete(oldest);
  }
  return found;
}
