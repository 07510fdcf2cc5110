/** The improvement of a promotion with its 95 % interval, beside no change and the margin. */

import { number } from "../format.js";
import { html } from "../html.js";
import { extent, linear, ticks } from "./scales.js";

const [WIDTH, HEIGHT, SIDE, MIDDLE] = [640, 96, 24, 36];

/** @param {{ improvement: any, margin: number }} props */
export function Interval({ improvement, margin }) {
  const { estimate, lower, upper, metric } = improvement;
  if (estimate === null) return null;
  const [low, high] = [lower ?? estimate, upper ?? estimate];
  const domain = extent([low, high, 0, margin], 0.08);
  const x = linear(domain, [SIDE, WIDTH - SIDE]);
  const range = lower === null || upper === null ? "" : `, between ${number(lower)} and ${number(upper)} with 95\u00a0% confidence`;
  const text = `${estimate < 0 ? "The challenger is worse: its" : "The challenger's"} ${metric} is ${estimate < 0 ? "greater" : "less"} by ${number(Math.abs(estimate))}; improvement ${number(estimate)}${range}.`;
  return html`<figure class="interval">
    <svg class="figure" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label=${text}>
      <g class="axes"><line x1=${SIDE} x2=${WIDTH - SIDE} y1=${HEIGHT - 32} y2=${HEIGHT - 32} />
        ${ticks(domain, 5).map((at) => html`<text key=${at} x=${x(at)} y=${HEIGHT - 10} text-anchor="middle">${number(at || 0)}</text>`)}</g>
      <line class="here" x1=${x(0)} x2=${x(0)} y1="8" y2=${HEIGHT - 32} />
      ${margin !== 0 && html`<line class="line-1 mark" x1=${x(margin)} x2=${x(margin)} y1="8" y2=${HEIGHT - 32} />`}
      <path class="line" d=${`M${x(low)},${MIDDLE - 8}v16m0,-8H${x(high)}m0,-8v16`} />
      <circle class="here" cx=${x(estimate)} cy=${MIDDLE} r="5" />
    </svg>
    <figcaption>
      <ul class="legend"><li>95\u00a0% interval of the improvement of ${metric}</li><li class="zero">no change</li>${margin !== 0 && html`<li class="line-1">margin</li>`}</ul>
      <p class="note">${text}</p>
    </figcaption>
  </figure>`;
}
