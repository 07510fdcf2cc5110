/** The error of an image's code as its functions were added. */

import { count, number, tick } from "../format.js";
import { html } from "../html.js";
import { path } from "../parts/scales.js";
import { frameOf, Plot, SIZES } from "./plot.js";

const ROWS = 50;

/** @param {{ steps: { functions: number, error: number }[] }} props */
export function ImageErrorPlot({ steps }) {
  const [first, last] = [steps[0], steps[steps.length - 1]];
  const frame = frameOf(SIZES.half, [first.functions, Math.max(last.functions, first.functions + 1)], [0, 1.05 * Math.max(...steps.map((one) => one.error))]);
  const text = `The root mean squared error falls from ${number(first.error)} with ${count(first.functions)} to ${number(last.error)} with ${count(last.functions)} functions.`;
  const every = Math.ceil(steps.length / ROWS);
  const table = { head: ["Functions", "Error"], rows: steps.filter((_, at) => at % every === 0 || at === steps.length - 1).map((one) => [count(one.functions), number(one.error)]) };
  return html`<${Plot} title="Error as functions were added" name="image-error" text=${text} table=${table} frame=${frame} labels=${{ x: "Functions", y: "Root mean squared error" }} format=${{ x: tick }}>
    <path class="line" d=${path(steps.map((one) => [frame.x(one.functions), frame.y(one.error)]))} />
  <//>`;
}
