/** The metrics of a version in words: where they were measured, the error, whether the intervals hold. */

import { count, deviation, number, percent } from "../format.js";

/** @type {[string, string][]} */
const MEASURED = [
  ["holdout", "on held-out rows"],
  ["validation", "by cross-validation"],
  ["leave_one_out", "with each row left out of the fit"],
];

/** The metrics that say most about new rows, and how they were measured. @param {any} version */
export function honest(version) {
  for (const [name, how] of MEASURED) {
    const metrics = version.metrics?.[name];
    if (metrics) return { name, how, metrics };
  }
  return null;
}

/** @type {Record<string, string>} */
export const NAMES = {
  rmse: "Root mean squared error",
  mae: "Mean absolute error",
  r2: "Share of the variance explained (R²)",
  nll: "Negative log predictive density, nats a row",
  nll_se: "… its standard error",
  coverage_95: "Rows within their 95\u00a0% interval",
  error: "Rows classified wrongly",
  log_loss: "Log loss, nats a row",
  log_loss_se: "… its standard error",
  brier: "Brier score",
  rows: "Rows measured",
};

const SHARES = new Set(["coverage_95", "error", "r2"]);

/** @param {string} name @param {number} value */
export const metricText = (name, value) => (SHARES.has(name) ? percent(value) : name.endsWith("_se") ? deviation(value) : number(value));

/** The error of a version in short: `RMSE 3.1`, `error 4 %`. @param {any} version */
export function shortError(version) {
  const found = honest(version)?.metrics;
  if (!found) return "–";
  if (found.rmse !== undefined) return `RMSE ${number(found.rmse)}`;
  return found.error === undefined ? "–" : `${percent(found.error)} wrong`;
}

/**
 * @typedef {{ grade: "good" | "fair" | "poor" | "unknown", text: string }} Verdict
 */

/** A sentence on how good the version is, and a grade of it. @param {any} version @returns {Verdict} */
export function verdict(version) {
  const found = honest(version);
  if (!found) return { grade: "unknown", text: "This version was not measured on rows that it had not seen." };
  const { metrics, how } = found;
  if (metrics.rmse !== undefined) return ofNumbers(version.target, metrics, how);
  if (metrics.error !== undefined) return ofClasses(version, metrics, how);
  return { grade: "unknown", text: `Measured ${how}.` };
}

/** @param {string} target @param {any} metrics @param {string} how @returns {Verdict} */
function ofNumbers(target, metrics, how) {
  const { rmse, r2, coverage_95: coverage, rows } = metrics;
  // R2 is 1 less the squared error over that of the mean.
  const compared = r2 === undefined || r2 >= 1 ? "" : `; always predicting the mean of ${target} would be off by ${number(rmse / Math.sqrt(1 - r2))}`;
  const counted = rows ? `${count(Math.round(coverage * rows))} of ${count(rows)} rows (${percent(coverage)})` : `${percent(coverage)} of the rows`;
  const held = coverage === undefined ? "" : ` The 95\u00a0% intervals contained ${counted}.`;
  const text = `Predicts ${target} with a typical error of ${number(rmse)} (${how})${compared}.${held}`;
  const isCovered = coverage === undefined || (coverage >= 0.9 && coverage <= 0.99);
  if (r2 !== undefined && r2 < 0.3) return { grade: "poor", text };
  return { grade: isCovered && (r2 ?? 1) >= 0.7 ? "good" : "fair", text };
}

/** @param {any} version @param {any} metrics @param {string} how @returns {Verdict} */
function ofClasses(version, metrics, how) {
  const rows = version.class_rows.map((/** @type {any} */ one) => one.rows);
  const total = rows.reduce((/** @type {number} */ sum, /** @type {number} */ some) => sum + some, 0);
  const guess = total ? 1 - Math.max(...rows) / total : 1;
  const text = `Predicts ${version.target} correctly for ${percent(1 - metrics.error)} of the rows (${how}). ` +
    `Always the most frequent class would be correct for ${percent(1 - guess)}.`;
  const ratio = guess ? metrics.error / guess : 1;
  return { grade: ratio <= 0.5 ? "good" : ratio < 0.9 ? "fair" : "poor", text };
}
