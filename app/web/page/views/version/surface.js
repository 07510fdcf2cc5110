/** Predictions over both inputs of a version with two numbers as inputs. */

import { useEffect, useMemo, useState } from "../../vendor/hooks.js";
import { post } from "../../api.js";
import { SurfacePlot } from "../../figures/surface.js";
import { html } from "../../html.js";
import { Failure, Loading } from "../../parts/states.js";
import { useSample } from "../../parts/sample.js";
import { useResource } from "../../state.js";

const NODES = 51;
const SAMPLE = 300;
const MAX_CLASSES = 5;
const MAX_RINGS = 300;

/** Two inputs that are numbers with a range, and not too many classes to tell apart. @param {any} version @param {any} baseline */
export function hasSurface(version, baseline) {
  const inputs = baseline.inputs;
  return inputs.length === 2 && version.inputs.length === 2 && version.classes.length <= MAX_CLASSES &&
    inputs.every((/** @type {any} */ one) => one.kind === "number" && one.min !== null && one.min < one.max);
}

/** @param {{ version: any, path: string, baseline: any }} props */
export function Surface({ version, path, baseline }) {
  const [{ surface, problem }, setState] = useState({ surface: /** @type {any} */ (null), problem: /** @type {any} */ (null) });
  const [first, second] = baseline.inputs;
  const axes = useMemo(() => [first, second].map(nodes), [baseline]);
  useEffect(() => {
    const controller = new AbortController();
    const [xs, ys] = axes;
    const isClasses = version.classes.length > 0;
    const columns = { [first.name]: ys.flatMap(() => xs), [second.name]: ys.flatMap((y) => xs.map(() => y)) };
    post(`${path}/predict`, { columns, outputs: [isClasses ? "probabilities" : "mean"] }, controller.signal).then(
      ({ predictions }) => setState({ problem: null, surface: { target: version.target, inputs: [first.name, second.name], xs, ys, isClasses, fields: fieldsOf(predictions, version) } }),
      (problem) => controller.signal.aborted || setState({ surface: null, problem }),
    );
    return () => controller.abort();
  }, [path, axes]);
  return html`<section><h2>${TITLE}</h2>
    ${problem && html`<${Failure} problem=${problem} />`}
    ${!problem && !surface && html`<${Loading} what="predictions over both inputs" />`}
    ${surface && html`<${WithRows} version=${version} path=${path} surface=${surface} />`}
  </section>`;
}

export const TITLE = "Both inputs together";

/** The surface, rows of the data, and those that carry functions. @param {{ version: any, path: string, surface: any }} props */
export function WithRows({ version, path, surface }) {
  const sample = useSample(version, SAMPLE) ?? [];
  const vectors = useResource(`${path}/relevance-vectors?sort=weight&limit=${MAX_RINGS}`);
  const [first, second] = surface.inputs;
  const rings = (vectors.data?.items ?? []).filter((/** @type {any} */ one) => one.inputs && one.function === "mean").map((/** @type {any} */ one) => [one.inputs[first], one.inputs[second]]);
  const points = sample.map(({ cells }) => ({ x: cells[first], y: cells[second], label: cells[version.target] })).filter((one) => one.x !== null && one.y !== null);
  return html`<${SurfacePlot} surface=${surface} rings=${rings} points=${points} />`;
}

/** Values at equal distances over the range of an input. @param {any} input @returns {number[]} */
const nodes = (input) => Array.from({ length: NODES }, (_, at) => input.min + (at * (input.max - input.min)) / (NODES - 1));

/** @param {any[]} predictions @param {any} version */
function fieldsOf(predictions, version) {
  if (version.classes.length === 0) return [{ name: version.target, values: predictions.map((one) => one.mean) }];
  return predictions[0].probabilities.map((/** @type {any} */ { label }, /** @type {number} */ at) => ({ name: String(label), values: predictions.map((one) => one.probabilities[at].probability) }));
}
