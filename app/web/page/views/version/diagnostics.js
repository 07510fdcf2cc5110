/** Whether to believe a version: coverage, calibration, residuals, and the steps of its fit. */

import { Calibration, Sharpness } from "../../figures/calibration.js";
import { Coverage } from "../../figures/coverage.js";
import { Pit } from "../../figures/pit.js";
import { Residuals, surprise } from "../../figures/residuals.js";
import { count } from "../../format.js";
import { html } from "../../html.js";
import { Chosen, MoreOf, useChosen } from "../../parts/chosen.js";
import { Shown } from "../../parts/states.js";
import { useResource } from "../../state.js";
import { Replay } from "./replay.js";

/** @type {Record<string, string>} */
const SOURCES = { validation: "rows that were left out of the fit that predicts them", holdout: "held-out rows", training: "rows that were trained on, whose residuals are smaller than those of new rows" };

/** @param {{ version: any, path: string }} props */
export function Diagnostics({ version, path }) {
  const found = useResource(`${path}/diagnostics`);
  if (found.error && /** @type {any} */ (found.error).status === 404) {
    return html`<section><h2>Reliability</h2><p class="note">${found.error.message}</p></section>`;
  }
  return html`<${Shown} of=${found} what="diagnostics">${(/** @type {any} */ data) => html`
    <${Reliability} version=${version} diagnostics=${data} />
    ${data.residuals && html`<${ResidualPlots} version=${version} residuals=${data.residuals} />`}
    ${data.traces.length > 0 && html`<${Replay} version=${version} path=${path} traces=${data.traces} />`}
  `}<//>`;
}

/** @param {{ version: any, diagnostics: any }} props */
function Reliability({ version, diagnostics: { reliability, reason } }) {
  if (!reliability) return html`<section><h2>Reliability</h2><p class="note">${reason}</p></section>`;
  return html`<section><h2>Reliability</h2>
    <p class="note">Of ${count(reliability.rows)} ${SOURCES[reliability.source]}.</p>
    <div class="plots">${reliability.kind === "numbers"
      ? html`<${Coverage} reliability=${reliability} /><${Pit} reliability=${reliability} />`
      : html`<${Calibrations} version=${version} reliability=${reliability} />`}</div>
  </section>`;
}

/** Of two classes one curve says all; of more, one for each class, the chosen ones. @param {{ version: any, reliability: any }} props */
function Calibrations({ version, reliability }) {
  const { curves } = reliability;
  const chosen = useChosen(curves.map((/** @type {any} */ one) => String(one.label)), 4);
  if (version.classes.length === 2) {
    const positive = version.positive_class ?? version.classes[1];
    const second = curves.find((/** @type {any} */ one) => String(one.label) === String(positive)) ?? curves[0];
    return html`<${Calibration} curve=${second} reliability=${reliability} /><${Sharpness} curve=${second} />`;
  }
  const shown = curves.filter((/** @type {any} */ one) => chosen.names.includes(String(one.label)));
  return html`<${Chosen} of=${chosen} id="filter-classes" nouns="classes" />
    ${shown.map((/** @type {any} */ curve) => html`<${Calibration} key=${curve.label} curve=${curve} reliability=${reliability} />`)}<${MoreOf} of=${chosen} nouns="classes" />`;
}

/** @type {Record<string, string>} */
const OUTPUTS = { mean: "Predicted mean", probability: "Probability of the predicted class" };

/** @param {{ version: any, residuals: any }} props */
function ResidualPlots({ version, residuals }) {
  const isClasses = version.classes.length > 0;
  const sorted = [...residuals.inputs].sort((one, other) => surprise(other, isClasses) - surprise(one, isClasses));
  const chosen = useChosen(sorted.map((one) => one.name), 6);
  const output = OUTPUTS[residuals.prediction.name] ?? `Probability of ${version.classes[1]}`;
  return html`<section><h2>Residuals</h2>
    <p class="note">${residualNote(version)} Of ${count(residuals.rows)} ${SOURCES[residuals.source]}. Dots are means with two standard errors, bands one sd on each side; beyond three standard errors they are marked.</p>
    <${Chosen} of=${chosen} id="filter-residuals" nouns="inputs" />
    <div class="plots three">
      <${Residuals} isClasses=${isClasses} of=${residuals.prediction} title="Against the prediction" axis=${output} />
      ${sorted.filter((one) => chosen.names.includes(one.name)).map((one) => html`<${Residuals} key=${one.name} isClasses=${isClasses} of=${one} title=${`Against ${one.name}`} axis=${one.name} />`)}
    </div>
    <${MoreOf} of=${chosen} nouns="inputs" />
  </section>`;
}

/** @param {any} version */
function residualNote({ target, classes }) {
  if (classes.length === 0) return `${target} less its predicted mean.`;
  if (classes.length === 2) return `1 for ${classes[1]} and 0 for ${classes[0]}, less the probability of ${classes[1]}.`;
  return "1 where the predicted class is right, else 0, less its probability.";
}
