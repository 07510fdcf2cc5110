/** A prediction in words and numbers. */

import { number, percent } from "../format.js";
import { html } from "../html.js";

/** @type {[string, string][]} */
const PARTS = [
  ["noise", "Noise of single observations"],
  ["weights", "Uncertainty of the fit"],
  ["residual", "What the functions do not explain"],
];

/** @param {{ version: any, prediction: any }} props */
export function Outcome({ version, prediction }) {
  if (prediction.probabilities) return html`<${Classes} version=${version} prediction=${prediction} />`;
  const { mean, lower, upper, variance, support } = prediction;
  return html`<div class="outcome" aria-live="polite">
    <p><span class="name">${version.target}</span> <strong class="value">${number(mean)}</strong> <span>between ${number(lower)} and ${number(upper)} with 95\u00a0% probability</span></p>
    ${support !== undefined && support !== null && support < 0.5 && html`<p class="warning">Far from the training data: the prediction rests on ${percent(support)} of the evidence there would be near it.</p>`}
    ${variance && html`<dl class="parts">${PARTS.filter(([name]) => variance[name] !== undefined).map(([name, title]) => html`<div key=${name}>
      <dt>${title}</dt><dd><meter aria-label=${title} min="0" max="1" value=${variance[name] / variance.total}></meter> ${percent(variance[name] / variance.total)}</dd></div>`)}</dl>
      <p class="note">Shares of the variance of the prediction, sd ${number(Math.sqrt(variance.total))}.</p>`}
  </div>`;
}

/** @param {{ version: any, prediction: any }} props */
function Classes({ version, prediction }) {
  return html`<div class="outcome" aria-live="polite">
    <p><span class="name">${version.target}</span> <strong class="value name">${String(prediction.label)}</strong></p>
    <dl class="parts">${prediction.probabilities.map((/** @type {any} */ one) => html`<div key=${one.label}>
      <dt class="name">${String(one.label)}</dt><dd><meter aria-label=${`Probability of ${one.label}`} min="0" max="1" value=${one.probability}></meter> ${percent(one.probability)}</dd></div>`)}</dl>
  </div>`;
}
