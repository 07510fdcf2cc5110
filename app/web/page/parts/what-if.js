/** Predictions for values of the inputs that the user sets, and the curve of one input through them. */

import { useEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { post } from "../api.js";
import { python } from "../code.js";
import { html } from "../html.js";
import { setQuery } from "../router.js";
import { useResource } from "../state.js";
import { AsCode } from "./as-code.js";
import { Curve } from "./curve.js";
import { Field, initialValue } from "./input-field.js";
import { Outcome } from "./outcome.js";
import { useSample } from "./sample.js";
import { Failure, Loading } from "./states.js";

const SHOWN = 20;
const SAMPLE = 500;
const POINTS = 61;
/** Fewer points of a row with many inputs, each of which has all of them. */
const [MIN_POINTS, MAX_CELLS] = [15, 12_000];

/** @param {{ version: any, path: string, baseline: any, query: URLSearchParams }} props */
export function WhatIf({ version, path, baseline, query }) {
  const props = { version, path, baseline, query };
  const form = version.inputs.length === 1 ? WithRows : baseline.inputs.length < version.inputs.length ? WithOthers : Form;
  return html`<section><h2>What if</h2><${form} ...${props} /></section>`;
}

/** The form, and the rows of the data and of the functions, which one input has a place for. @param {{ version: any, path: string, baseline: any, query: URLSearchParams }} props */
function WithRows(props) {
  const sample = useSample(props.version, SAMPLE) ?? [];
  const vectors = useResource(`${props.path}/relevance-vectors?sort=weight&limit=${SAMPLE}`);
  return html`<${Form} ...${props} sample=${sample} vectors=${vectors.data?.items ?? []} />`;
}

/** The values in a link, else those in the middle of the data. @param {any[]} inputs @param {URLSearchParams} query */
function initialRow(inputs, query) {
  let given = {};
  try {
    given = JSON.parse(query.get("row") ?? "{}");
  } catch {
    // A link that was cut off shows the view without its values.
  }
  return Object.fromEntries(inputs.map((input) => [input.name, /** @type {any} */ (given)[input.name] ?? initialValue(input)]));
}

/** The form of a version with more inputs than have histograms: the others are those of a row in the middle of the table. @param {{ version: any, path: string, baseline: any, query: URLSearchParams }} props */
function WithOthers(props) {
  const { version, baseline } = props;
  const sample = useSample(version, 1);
  if (sample === null) return html`<${Loading} what="a row of the data" />`;
  if (sample.length === 0) return html`<p class="note">The dataset was deleted, and of ${version.inputs.length} inputs only ${baseline.inputs.length} have known values.</p>`;
  const shown = new Set(baseline.inputs.map((/** @type {any} */ one) => one.name));
  const others = version.inputs.filter((/** @type {any} */ one) => !shown.has(one.name)).map((/** @type {any} */ one) => [one.name, sample[0].cells[one.name]]);
  return html`<${Form} ...${props} base=${Object.fromEntries(others)} />`;
}

/** @type {Record<string, unknown>} */
const NOTHING = {};

/** @param {{ version: any, path: string, baseline: any, query: URLSearchParams, sample?: any[], vectors?: any[], base?: Record<string, unknown> }} props */
function Form({ version, path, baseline, query, sample = [], vectors = [], base = NOTHING }) {
  const inputs = baseline.inputs;
  const [row, setRow] = useState(() => initialRow(inputs, query));
  const numeric = inputs.filter((/** @type {any} */ input) => input.kind === "number" && input.min !== null);
  const [along, setAlong] = useState(query.get("along") ?? numeric[0]?.name);
  const input = numeric.find((/** @type {any} */ one) => one.name === along);
  const rows = useMemo(() => [{ ...base, ...row }], [row]);
  const { predictions, problem } = usePredictions(path, rows);
  // The curve is the same for all values of its own input.
  const others = JSON.stringify({ ...row, [along]: null });
  const curve = usePredictions(path, useMemo(() => (input ? slice({ ...base, ...row }, input) : []), [others, input]));
  const hasCurve = input && predictions && curve.predictions && curve.rows[0][along] === input.min;
  const change = (/** @type {string} */ name, /** @type {unknown} */ value) => {
    const changed = { ...row, [name]: value };
    setRow(changed);
    setQuery({ row: JSON.stringify(changed), ...(along ? { along } : {}) });
  };
  const choose = (/** @type {any} */ event) => {
    setAlong(event.currentTarget.value);
    setQuery({ row: JSON.stringify(row), along: event.currentTarget.value });
  };
  const body = { rows };
  return html`<div class="what-if">
    <form onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      ${inputs.slice(0, SHOWN).map((/** @type {any} */ one) => html`<${Field} key=${one.name} input=${one} value=${row[one.name]} onChange=${(/** @type {unknown} */ value) => change(one.name, value)} />`)}
      ${version.inputs.length > SHOWN && html`<p class="note">The other ${version.inputs.length - SHOWN} inputs are as in the middle of the data.</p>`}
    </form>
    <div>
      ${problem && html`<${Failure} problem=${problem} />`}
      ${predictions && html`<${Outcome} version=${version} prediction=${predictions[0]} />`}
      ${hasCurve && html`
        ${numeric.length > 1 && html`<label>Curve along <select value=${along} onChange=${choose}>${numeric.map((/** @type {any} */ one) => html`<option>${one.name}</option>`)}</select></label>`}
        <${Curve} version=${version} input=${input} row=${row} at=${predictions[0]} rows=${curve.rows} predictions=${curve.predictions} isWhole=${inputs.length === 1} sample=${sample} vectors=${vectors} />`}
    </div>
  </div>
  <${AsCode} path=${`v1/models/${encodeURIComponent(version.model)}/versions/${version.version}/predict`} body=${body}
    python=${[`predicted = service.predict(${JSON.stringify(version.model)}, ${python(body)}, version=${version.version})`, "print(predicted.predictions[0])"]} />`;
}

/** Rows along an input, from its least value to its greatest, all else as in the row. @param {Record<string, unknown>} row @param {any} input */
function slice(row, input) {
  const points = Math.max(MIN_POINTS, Math.min(POINTS, Math.floor(MAX_CELLS / Object.keys(row).length)));
  const step = (input.max - input.min) / (points - 1);
  return Array.from({ length: points }, (_, index) => ({ ...row, [input.name]: input.min + index * step }));
}

/**
 * The predictions of the newest rows that have some. While a request is on its way no other is sent.
 * @param {string} path
 * @param {Record<string, unknown>[]} rows
 */
function usePredictions(path, rows) {
  const [state, setState] = useState({ rows, predictions: /** @type {any[] | null} */ (null), problem: /** @type {any} */ (null) });
  const wanted = useRef(rows);
  const isBusy = useRef(false);
  wanted.current = rows;
  const send = async () => {
    if (isBusy.current || wanted.current.length === 0) return;
    isBusy.current = true;
    const sent = wanted.current;
    try {
      const { predictions } = await post(`${path}/predict`, { rows: sent });
      setState({ rows: sent, predictions, problem: null });
    } catch (problem) {
      setState((last) => ({ ...last, problem }));
    }
    isBusy.current = false;
    if (wanted.current !== sent) send();
  };
  useEffect(() => void send(), [rows]);
  return state;
}
