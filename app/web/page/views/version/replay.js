/** The steps of a fit, one by one. */

import { useEffect, useState } from "../../vendor/hooks.js";
import { EnteredPlot, rowsAfter } from "../../figures/entered.js";
import { FunctionsPlot, ObjectivePlot, stepText } from "../../figures/fit-trace.js";
import { html } from "../../html.js";
import { useSample } from "../../parts/sample.js";
import { useResource } from "../../state.js";

const SAMPLE = 1000;

const REPLAY_MS = 4000;
const MIN_STEP_MS = 40;

/** @param {{ version: any, path: string, traces: any[] }} props */
export function Replay({ version, path, traces }) {
  const [member, setMember] = useState(0);
  const steps = traces[member].kept;
  const [at, setAt] = useState(steps.length - 1);
  const [isPlaying, setPlaying] = useState(false);
  const here = Math.min(at, steps.length - 1);
  useEffect(() => {
    if (!isPlaying) return undefined;
    const timer = setInterval(() => setAt((last) => Math.min(last + 1, steps.length - 1)), Math.max(MIN_STEP_MS, REPLAY_MS / steps.length));
    return () => clearInterval(timer);
  }, [isPlaying, steps]);
  useEffect(() => void (here === steps.length - 1 && setPlaying(false)), [here]);
  const play = () => {
    if (!isPlaying && here === steps.length - 1) setAt(0);
    setPlaying(!isPlaying);
  };
  const choose = (/** @type {any} */ event) => {
    setMember(Number(event.currentTarget.value));
    setAt(traces[Number(event.currentTarget.value)].kept.length - 1);
  };
  const move = (/** @type {any} */ event) => {
    setPlaying(false);
    setAt(Number(event.currentTarget.value));
  };
  return html`<section class="replay"><h2>Steps of the fit</h2>
    ${traces.length > 1 && html`<label>Member <select value=${member} onChange=${choose}>${traces.map((one, index) => html`<option value=${index}>${one.member + 1}</option>`)}</select></label>`}
    <div class="player"><button type="button" onClick=${play}>${isPlaying ? "Pause" : "Replay"}</button>
      <input type="range" aria-label="Step of the fit" aria-valuetext=${stepText(steps[here])} min="0" max=${steps.length - 1} step="1" value=${here} onInput=${move} /></div>
    <p class="note step">${stepText(steps[here])}</p>
    <div class="plots"><${ObjectivePlot} steps=${steps} at=${here} /><${FunctionsPlot} steps=${steps} at=${here} />
      ${traces.length === 1 && hasPlaces(version) && html`<${Entered} version=${version} path=${path} steps=${steps} at=${here} />`}</div>
  </section>`;
}

/** A place in a plane for each row: one number and a number to predict, or two numbers. @param {any} version */
function hasPlaces({ inputs, target_kind: kind, classes }) {
  const areNumbers = inputs.every((/** @type {any} */ one) => one.kind === "number");
  return areNumbers && (inputs.length === 2 || (inputs.length === 1 && kind === "number" && classes.length === 0));
}

/** @param {{ version: any, path: string, steps: any[], at: number }} props */
function Entered({ version, path, steps, at }) {
  const vectors = useResource(`${path}/relevance-vectors?limit=${SAMPLE}`);
  const carrying = (vectors.data?.items ?? []).filter((/** @type {any} */ one) => one.row !== null && one.function === "mean").map((/** @type {any} */ one) => one.row);
  const rows = rowsAfter(steps, at, carrying);
  const sample = useSample(version, SAMPLE) ?? [];
  const [first, second] = [...version.inputs.map((/** @type {any} */ one) => one.name), version.target];
  const places = sample.map(({ row, cells }) => ({ row, x: cells[first], y: cells[second] })).filter((one) => typeof one.x === "number" && typeof one.y === "number");
  return rows && places.length > 0 && html`<${EnteredPlot} rows=${rows} step=${steps[at]} places=${places} labels=${{ x: first, y: second }} />`;
}
