/** The log marginal likelihood of a training as it is fitted. */

import { number } from "../format.js";
import { html } from "../html.js";
import { Axes } from "./axes.js";
import { extent, linear, path } from "./scales.js";

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [640, 220, 64, 48, 24];

/** @param {{ trace: any[] }} props */
export function Trace({ trace }) {
  const points = trace.filter((one) => one.log_marginal_likelihood !== null);
  const last = points.at(-1);
  // Evidence is compared within one phase alone: each phase may fit other rows.
  const shown = points.filter((one) => one.phase === last.phase);
  if (shown.length < 3) return null;
  const values = shown.map((one) => one.log_marginal_likelihood);
  /** @type {{ x: [number, number], y: [number, number] }} */
  const domains = { x: [1, shown.length], y: extent(values, 0.05) };
  const x = linear(domains.x, [LEFT, WIDTH - 8]);
  const y = linear(domains.y, [HEIGHT - BOTTOM, TOP]);
  const text = `Log marginal likelihood of the phase ${last.phase}: from ${number(values[0])} to ${number(values.at(-1))} nats.`;
  return html`<section><h2>Fit</h2>
    <svg class="figure" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label=${text}>
      <${Axes} x=${x} y=${y} domains=${domains} width=${WIDTH} height=${HEIGHT} left=${LEFT} bottom=${BOTTOM} labels=${{ x: "Report of progress", y: "Log marginal likelihood, nats" }} />
      <path class="line" d=${path(values.map((value, index) => [x(index + 1), y(value)]))} />
    </svg>
    <p class="note">${text}</p>
  </section>`;
}
