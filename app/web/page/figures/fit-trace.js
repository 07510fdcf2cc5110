/** The steps of a fit: the objective of one phase, and the number of functions, up to a step. */

import { number, tick } from "../format.js";
import { html } from "../html.js";
import { extent, path } from "../parts/scales.js";
import { frameOf, Plot, SIZES } from "./plot.js";

/** @typedef {{ iteration: number, phase: string, objective: number | null, gain: number | null, noise_sd: number | null, functions: number, entered: number | null, left: number | null }} Step */

const MIN_STEPS = 3;

/** The steps of the phase at a place that have an objective: that of other phases can't be compared. Of a phase of a step or two, those of the longest phase. @param {Step[]} steps @param {number} at */
function shownAt(steps, at) {
  /** @type {Step[][]} */
  const phases = [];
  for (const step of steps) {
    if (phases.at(-1)?.[0].phase === step.phase) phases.at(-1)?.push(step);
    else phases.push([step]);
  }
  const computed = phases.map((phase) => phase.filter((step) => step.objective !== null));
  const here = phases.findIndex((phase) => phase.includes(steps[at]));
  if (computed[here].length >= MIN_STEPS) return computed[here];
  return computed.reduce((one, other) => (other.length > one.length ? other : one), computed[here]);
}

/** @param {{ steps: Step[], at: number }} props */
export function ObjectivePlot({ steps, at }) {
  const shown = shownAt(steps, at);
  const values = shown.map((step) => Number(step.objective));
  const places = shown.map((step) => step.iteration);
  const frame = frameOf(SIZES.half, around(places), values.length ? extent(values, 0.08) : [0, 1]);
  const done = shown.filter((step) => step.iteration <= steps[at].iteration);
  const points = (/** @type {Step[]} */ some) => /** @type {[number, number][]} */ (some.map((step) => [frame.x(step.iteration), frame.y(Number(step.objective))]));
  const current = points(done).at(-1);
  const phase = (shown[0] ?? steps[at]).phase.replaceAll("_", " ");
  const text = values.length === 0 ? "The objective was not computed in this phase."
    : values.length === 1 ? `${number(values[0])} nats after the one step of this phase.`
      : `From ${number(values[0])} to ${number(values[values.length - 1])} nats in ${values.length} steps.${shown.length < steps.length - 1 ? " Other phases have other rows or functions, and can't be compared." : ""}`;
  return html`<${Plot} title=${`Objective in the phase “${phase}”`} name="trace" text=${text} table=${tableOf(steps)} frame=${frame} labels=${{ x: "Iteration", y: "Objective, nats" }} format=${{ x: integer }}>
    <path class="line later" d=${path(points(shown))} />
    <path class="line" d=${path(points(done))} />
    ${shown.length < 60 && points(shown).map(([x, y], index) => html`<circle class=${`dot ${shown[index].iteration > steps[at].iteration ? "later" : ""}`} cx=${x} cy=${y} r="2.5" />`)}
    ${current && html`<circle class="here" cx=${current[0]} cy=${current[1]} r="5" />`}
  <//>`;
}

/** @param {{ steps: Step[], at: number }} props */
export function FunctionsPlot({ steps, at }) {
  const counts = steps.map((step) => step.functions);
  const frame = frameOf(SIZES.half, around(steps.map((step) => step.iteration)), [0, 1.1 * Math.max(1, ...counts)]);
  const points = (/** @type {Step[]} */ some) => /** @type {[number, number][]} */ (some.flatMap((step, index) => {
    const before = some[index - 1];
    const here = [frame.x(step.iteration), frame.y(step.functions)];
    return before ? [[here[0], frame.y(before.functions)], here] : [here];
  }));
  const phases = steps.filter((step, index) => index > 0 && step.phase !== steps[index - 1].phase);
  const [first, last] = [counts[0], counts[counts.length - 1]];
  const text = `From ${first} to ${last} functions, at most ${Math.max(...counts)}.${phases.length ? " A phase begins at each dashed line." : ""}`;
  return html`<${Plot} title="Functions in the model" name="trace" text=${text} table=${tableOf(steps)} frame=${frame} labels=${{ x: "Iteration", y: "Functions" }} format=${{ x: integer, y: integer }}>
    ${phases.map((step) => html`<line class="here" x1=${frame.x(step.iteration)} x2=${frame.x(step.iteration)} y1=${frame.size.top} y2=${frame.size.height - frame.size.bottom} />`)}
    <path class="line later" d=${path(points(steps))} />
    <path class="line" d=${path(points(steps.slice(0, at + 1)))} />
    <circle class="here" cx=${frame.x(steps[at].iteration)} cy=${frame.y(steps[at].functions)} r="5" />
  <//>`;
}

/** A domain about iterations. @param {number[]} places @returns {[number, number]} */
const around = (places) => (places.length > 1 ? [places[0], places[places.length - 1]] : [(places[0] ?? 0) - 1, (places[0] ?? 0) + 1]);

/** A tick where it is a whole number. @param {number} value */
const integer = (value) => (Number.isInteger(value) ? tick(value) : "");

/** What happened at a step, in a sentence. @param {Step} step */
export function stepText({ iteration, phase, objective, gain, noise_sd: noise, functions, entered, left }) {
  const parts = [
    objective === null ? null : `objective ${number(objective)} nats${gain ? ` (${gain > 0 ? "+" : ""}${number(gain)})` : ""}`,
    `${functions} ${functions === 1 ? "function" : "functions"}`,
    noise === null ? null : `noise sd ${number(noise)}`,
    entered === null ? null : `the function of row ${entered + 1} entered`,
    left === null ? null : `the function of row ${left + 1} left`,
  ];
  return `Iteration ${iteration}, ${phase.replaceAll("_", " ")}: ${parts.filter(Boolean).join(", ")}.`;
}

/** @param {Step[]} steps */
const tableOf = (steps) => ({
  head: ["Iteration", "Phase", "Objective, nats", "Gain", "Functions", "Noise sd", "Row entered", "Row left"],
  rows: steps.map((step) => [step.iteration, step.phase.replaceAll("_", " "), number(step.objective), number(step.gain), step.functions, number(step.noise_sd), step.entered === null ? "" : step.entered + 1, step.left === null ? "" : step.left + 1]),
});
