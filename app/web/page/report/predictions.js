/** Predictions as a report has them: along each input, over both, and averaged. */

import { embedded } from "../embedded.js";
import { count } from "../format.js";
import { html } from "../html.js";
import { Shown } from "../parts/states.js";
import { useResource } from "../state.js";
import { EffectPlots, orderOf } from "../views/version/effects.js";
import { TITLE, WithRows } from "../views/version/surface.js";
import { Slices } from "./slices.js";

/** @param {{ version: any, path: string }} props */
export function Predictions({ version, path }) {
  const found = useResource(`${path}/baseline`);
  const { surface, effects } = embedded ?? {};
  return html`<${Slices} version=${version} path=${path} />
    ${surface && html`<section><h2>${TITLE}</h2><${WithRows} version=${version} path=${path} surface=${{ ...surface, isClasses: surface.is_classes }} /></section>`}
    ${effects && html`<${Shown} of=${found} what="ranges of the inputs">${(/** @type {any} */ baseline) => html`<section><h2>Effects of the inputs</h2>
      <p class="note">The prediction averaged over ${count(effects.rows)} rows of the data, all with the same value of the input. ${orderOf(version)}</p>
      <${EffectPlots} version=${version} baseline=${baseline} profiles=${effects.profiles} /></section>`}<//>`}`;
}
