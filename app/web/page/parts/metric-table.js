/** Metrics of several versions or rows of data side by side, and the difference of two. */

import { number, percent } from "../format.js";
import { html } from "../html.js";
import { metricText, NAMES } from "./metrics.js";

/** The standard errors of metrics, which are better the less they are. @type {Record<string, string>} */
const ERRORS = { nll: "nll_se", log_loss: "log_loss_se" };

const OTHERS = {
  auc: "Area under the ROC curve",
  ece: "Expected calibration error",
  precision: "Precision of the positive class",
  recall: "Recall of the positive class",
  specificity: "Specificity of the positive class",
  f1: "F1 of the positive class",
  coverage_50: "Rows within their 50\u00a0% interval",
  coverage_80: "Rows within their 80\u00a0% interval",
  width_95: "Mean width of the 95\u00a0% intervals",
};
const { coverage_95, rows, ...FIRST } = NAMES;
/** @type {Record<string, string>} */
const TITLES = { ...FIRST, auc: OTHERS.auc, ece: OTHERS.ece, precision: OTHERS.precision, recall: OTHERS.recall, specificity: OTHERS.specificity, f1: OTHERS.f1, coverage_50: OTHERS.coverage_50, coverage_80: OTHERS.coverage_80, coverage_95, width_95: OTHERS.width_95, rows };
const POINTS = new Set(["coverage_50", "coverage_80", "coverage_95", "error", "r2", "precision", "recall", "specificity"]);

/**
 * The texts of the figures of a metric, all with the decimals that the greatest of them needs; and that of a difference.
 * @param {string} name
 * @param {(number | null | undefined)[]} values
 */
function formats(name, values) {
  const greatest = Math.max(...values.map((value) => Math.abs(value ?? 0)));
  const isOrdinary = greatest >= 1e-3 && greatest < 1e6 && !POINTS.has(name) && name !== "rows" && !name.endsWith("_se");
  const digits = Math.max(0, 3 - Math.floor(Math.log10(greatest || 1)));
  const one = (/** @type {number} */ value) => (isOrdinary ? value.toFixed(digits).replace("-", "−") : POINTS.has(name) ? percent(value) : metricText(name, value));
  return {
    of: (/** @type {number | null | undefined} */ value) => (value === undefined || value === null ? "–" : one(value)),
    change: (/** @type {number} */ value) => `${value > 0 ? "+" : "−"}${POINTS.has(name) ? `${(100 * Math.abs(value)).toFixed(1)} pp` : isOrdinary ? Math.abs(value).toFixed(digits) : number(Math.abs(value))}`,
  };
}

/**
 * Metrics of an evaluation with the names that those of a training have.
 * @param {any} result
 * @returns {Record<string, number | null>}
 */
export function flat({ metrics, rows }) {
  const { coverage = [], auc, positive, ...others } = metrics;
  const { precision, recall, specificity, f1 } = positive ?? {};
  const shares = coverage.map((/** @type {any} */ one) => [`coverage_${one.percent}`, one.share]);
  const width = coverage.find((/** @type {any} */ one) => one.percent === 95)?.width;
  return { ...others, ...(auc && { auc: auc.value }), ...(positive && { precision, recall, specificity, f1 }), ...Object.fromEntries(shares), ...(width !== undefined && { width_95: width }), rows };
}

/**
 * @param {{ caption: string, columns: { title: unknown, metrics: any }[], isCompared?: boolean }} props
 * `isCompared`: the difference of the second of two columns from the first is shown.
 */
export function MetricTable({ caption, columns, isCompared = false }) {
  const names = Object.keys(TITLES).filter((name) => columns.some((one) => typeof one.metrics?.[name] === "number"));
  return html`<div class=${`scroll ${columns.length === 1 ? "narrow" : ""}`} tabindex="0" role="region" aria-label=${caption}><table>
    <caption class="hidden">${caption}</caption>
    <thead><tr><th scope="col">Metric</th>${columns.map((one) => html`<th scope="col" class="right">${one.title}</th>`)}
      ${isCompared && html`<th scope="col" class="right">Difference</th>`}</tr></thead>
    <tbody>${names.map((name) => html`<${Metric} key=${name} name=${name} values=${columns.map((one) => one.metrics?.[name])} errors=${columns.map((one) => one.metrics?.[ERRORS[name]])} isCompared=${isCompared} />`)}</tbody>
  </table></div>`;
}

/** @param {{ name: string, values: any[], errors: any[], isCompared: boolean }} props */
function Metric({ name, values, errors, isCompared }) {
  const texts = formats(name, values);
  return html`<tr><th scope="row">${TITLES[name]}</th>
    ${values.map((value) => html`<td class="right">${texts.of(value)}</td>`)}
    ${isCompared && html`<${Difference} values=${values} errors=${errors} text=${texts.change} />`}</tr>`;
}

/**
 * The grade of a difference beyond twice its standard error; none where that is unknown. The error is that of independent rows: of the
 * same rows it is less.
 * @param {number} change @param {any[]} errors
 */
export function gradeOf(change, errors) {
  if (!errors.every((one) => typeof one === "number")) return "";
  if (Math.abs(change) <= 2 * Math.hypot(...errors)) return "";
  return change < 0 ? "better" : "worse";
}

/** @param {{ values: any[], errors: any[], text: (change: number) => string }} props */
function Difference({ values: [first, second], errors, text }) {
  if (typeof first !== "number" || typeof second !== "number") return html`<td class="right">–</td>`;
  const change = second - first;
  if (change === 0) return html`<td class="right">none</td>`;
  const grade = gradeOf(change, errors);
  return html`<td class=${`right ${grade}`}>${text(change)}${grade && html` <small>${grade}</small>`}</td>`;
}
