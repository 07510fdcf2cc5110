/** The share of rows within their intervals, beside the share that the intervals promise. */

import { count, percent, share } from "../format.js";
import { html } from "../html.js";
import { frameOf, Legend, Plot, SIZES } from "./plot.js";

const SIZE = { ...SIZES.half, left: 64, bottom: 46 };
const FROM = 0.3;

/** @param {{ reliability: any }} props */
export function Coverage({ reliability }) {
  const levels = [...reliability.coverage].sort((one, other) => one.level - other.level);
  const shares = levels.flatMap((one) => [one.share, one.level - 2 * one.standard_error]);
  const frame = frameOf(SIZE, [Math.min(FROM, Math.floor(10 * Math.min(...shares)) / 10), 1], [levels.length - 0.5, -0.5]);
  const { x, y } = frame;
  const table = {
    head: ["Interval", "Rows within", "Two standard errors"],
    rows: levels.map((one) => [percent(one.level), percent(one.share), `± ${(200 * one.standard_error).toFixed(1)} points`]),
  };
  return html`<${Plot} title="Coverage of the intervals" name="coverage" text=${coverageText(levels, reliability.rows)} table=${table} frame=${frame}
    labels=${{ x: "Rows within their interval", y: "Interval" }} format=${{ x: share, y: () => "" }}
    legend=${html`<${Legend} of=${[["expected", "promised, ± two standard errors"], ["dot", "observed"]]} />`}>
    ${levels.map((one, at) => html`<g>
      <text x=${frame.size.left - 12} y=${y(at)} dy="0.32em" text-anchor="end">${percent(one.level)}</text>
      <rect class="expected" x=${x(clamp(one.level - 2 * one.standard_error, frame))} width=${x(Math.min(1, one.level + 2 * one.standard_error)) - x(clamp(one.level - 2 * one.standard_error, frame))} y=${y(at) - 9} height="18" rx="3" />
      <line class="expected" x1=${x(one.level)} x2=${x(one.level)} y1=${y(at) - 9} y2=${y(at) + 9} />
      <circle class=${isNoise(one) ? "dot" : "dot off"} cx=${x(one.share)} cy=${y(at)} r="5.5" />
    </g>`)}
  <//>`;
}

/** @param {number} value @param {import("./plot.js").Frame} frame */
const clamp = (value, frame) => Math.max(frame.domains.x[0], value);

/** True where chance explains the difference. @param {any} one */
const isNoise = (one) => Math.abs(one.share - one.level) <= 2 * one.standard_error + 1e-12;

/** @param {any[]} levels @param {number} rows */
export function coverageText(levels, rows) {
  const widest = levels.find((one) => one.level === 0.95) ?? levels[levels.length - 1];
  const wrong = levels.filter((one) => !isNoise(one));
  const first = `${percent(widest.share)} of ${count(rows)} rows are within their ${percent(widest.level)} interval.`;
  if (wrong.length === 0) return `${first} All intervals hold as often as they promise, within two standard errors.`;
  const parts = wrong.map((one) => `those of ${percent(one.level)} hold for ${percent(one.share)}`);
  const isNarrow = wrong.every((one) => one.share < one.level);
  const isWide = wrong.every((one) => one.share > one.level);
  return `${first} Beyond two standard errors: ${parts.join(", ")}${isNarrow ? "; they are too narrow" : isWide ? "; they are too wide" : ""}.`;
}
