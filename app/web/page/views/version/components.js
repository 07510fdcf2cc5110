/** A version without a target: rows of its data by their components, and how new each is. */

import { useEffect, useState } from "../../vendor/hooks.js";
import { post } from "../../api.js";
import { ComponentMap, VariancePlot } from "../../figures/component-map.js";
import { html } from "../../html.js";
import { Needs, usePermission } from "../../parts/needs.js";
import { useSample } from "../../parts/sample.js";
import { Failure, Loading } from "../../parts/states.js";

const SAMPLE = 500;

/** @param {{ version: any, path: string }} props */
export function Components(props) {
  if (usePermission("predict")) return html`<${Predicted} ...${props} />`;
  return html`<${ComponentFigures} version=${props.version}><${Needs} scopes=${["predict"]} what="The map of the rows" /><//>`;
}

/** @param {{ version: any, path: string }} props */
function Predicted({ version, path }) {
  const sample = useSample(version, SAMPLE);
  const [{ rows, problem }, setState] = useState({ rows: /** @type {any[] | null} */ (null), problem: /** @type {any} */ (null) });
  useEffect(() => {
    if (!sample || sample.length === 0) return undefined;
    const controller = new AbortController();
    const names = version.inputs.map((/** @type {any} */ one) => one.name);
    const whole = sample.filter(({ cells }) => version.missing === "indicator" || names.every((/** @type {string} */ name) => cells[name] !== null));
    const body = { names, rows: whole.map(({ cells }) => names.map((/** @type {string} */ name) => cells[name])), components: Math.min(2, version.variances.length) };
    post(`${path}/predict`, body, controller.signal).then(
      ({ predictions }) => setState({ problem: null, rows: predictions.map((/** @type {any} */ one, /** @type {number} */ at) => ({ ...one, row: whole[at].row })) }),
      (problem) => controller.signal.aborted || setState({ rows: null, problem }),
    );
    return () => controller.abort();
  }, [path, sample]);
  return html`<${ComponentFigures} version=${version} rows=${rows}>
    ${problem && html`<${Failure} problem=${problem} />`}
    ${sample && sample.length === 0 && html`<p class="note">The dataset was deleted: its rows can't be shown.</p>`}
    ${!rows && !problem && (!sample || sample.length > 0) && html`<${Loading} what="components" />`}
  <//>`;
}

/** `children` are about the rows, where there are none. @param {{ version: any, rows?: any[] | null, children?: unknown }} props */
export function ComponentFigures({ version, rows, children }) {
  return html`<section><h2>Components and novelty</h2>
    ${children}
    <div class="plots">
      ${rows && html`<${ComponentMap} rows=${rows} variances=${version.variances} />`}
      <${VariancePlot} variances=${version.variances} explained=${version.explained_variance} />
    </div>
  </section>`;
}
