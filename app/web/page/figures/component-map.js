/** Rows by their first two components, and how new each is. */

import { count, number, percent } from "../format.js";
import { html } from "../html.js";
import { extent } from "../parts/scales.js";
import { frameOf, Legend, Plot, SIZES } from "./plot.js";

const NOVEL = 0.95;

/** @typedef {{ row: number, components: number[], novelty: number, log_density: number }} Placed */

/** @param {{ rows: Placed[], variances: number[] }} props */
export function ComponentMap({ rows, variances }) {
  const total = variances.reduce((sum, one) => sum + one, 0);
  const share = (/** @type {number} */ at) => `Component ${at + 1}, ${percent(variances[at] / total)} of the explained variance`;
  const frame = frameOf(SIZES.half, extent(rows.map((one) => one.components[0]), 0.03), extent(rows.map((one) => one.components[1] ?? 0), 0.05));
  const novel = rows.filter((one) => one.novelty > NOVEL);
  const text = `${count(novel.length)} of ${count(rows.length)} rows are less usual than 95\u00a0% of the training rows${novel.length ? `, most of all row ${mostNovel(rows).row + 1}` : ""}.`;
  const table = {
    head: ["Row", "Component 1", "Component 2", "Novelty"],
    rows: [...rows].sort((one, other) => one.log_density - other.log_density).slice(0, 50).map((one) => [one.row + 1, number(one.components[0]), number(one.components[1]), percent(one.novelty)]),
  };
  return html`<${Plot} title="Rows by their components" name="components" text=${text} table=${table} frame=${frame} labels=${{ x: share(0), y: variances.length > 1 ? share(1) : "" }}
    legend=${html`<${Legend} of=${[["point", "row of the data"], ["dot off", "row with a novelty above 95\u00a0%"]]} />`}>
    ${rows.map((one) => html`<circle class=${one.novelty > NOVEL ? "dot off" : "point"} cx=${frame.x(one.components[0])} cy=${frame.y(one.components[1] ?? 0)} r=${one.novelty > NOVEL ? 4 : 2.5} />`)}
  <//>`;
}

/** @param {Placed[]} rows */
const mostNovel = (rows) => rows.reduce((one, other) => (other.log_density < one.log_density ? other : one));

/** @param {{ variances: number[], explained: number }} props */
export function VariancePlot({ variances, explained }) {
  const total = variances.reduce((sum, one) => sum + one, 0);
  let sum = 0;
  const shares = variances.map((one) => (sum += (explained * one) / total));
  const frame = frameOf(SIZES.half, [0.5, variances.length + 0.5], [0, 1]);
  const enough = shares.findIndex((one) => one >= 0.9 * explained) + 1;
  const text = `${count(variances.length)} components explain ${percent(explained)} of the variance; ${count(enough)} of them explain nine tenths of that.`;
  const table = { head: ["Components", "Variance explained"], rows: shares.map((one, at) => [at + 1, percent(one)]) };
  const bars = (frame.x(2) - frame.x(1)) * 0.8;
  return html`<${Plot} title="Variance explained by so many components" name="variances" text=${text} table=${table} frame=${frame}
    labels=${{ x: "Components", y: "Variance explained" }} format=${{ x: (/** @type {number} */ at) => (Number.isInteger(at) ? String(at) : ""), y: percent }}>
    ${shares.map((one, at) => html`<rect class="bar" x=${frame.x(at + 1) - bars / 2} width=${bars} y=${frame.y(one)} height=${frame.y(0) - frame.y(one)} />`)}
  <//>`;
}
