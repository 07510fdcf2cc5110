/** Models with the error and the coverage of their newest versions. */

import { age, percent } from "../format.js";
import { html } from "../html.js";
import { link } from "../router.js";
import { useResource } from "../state.js";
import { honest, shortError } from "./metrics.js";

/** @param {{ models: any[] }} props */
export function ModelTable({ models }) {
  const now = Date.now();
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Models"><table>
    <caption class="hidden">Models</caption>
    <thead><tr>
      <th scope="col">Model</th><th scope="col">Predicts</th><th scope="col" class="right">Error</th>
      <th scope="col" class="right">In 95 % interval</th><th scope="col" class="right">Versions</th><th scope="col" class="right">Created</th>
    </tr></thead>
    <tbody>${models.map((model) => html`<${Row} key=${model.name} model=${model} now=${now} />`)}</tbody>
  </table></div>`;
}

/** @param {{ model: any, now: number }} props */
function Row({ model, now }) {
  const path = model.latest && `v1/models/${encodeURIComponent(model.name)}/versions/${model.latest}`;
  const { data: version } = useResource(path);
  const coverage = version && honest(version)?.metrics.coverage_95;
  return html`<tr>
    <th scope="row"><a class="name" href=${link(["models", model.name])}>${model.name}</a></th>
    <td class="name">${model.target ?? model.task}</td>
    <td class="right">${version ? shortError(version) : ""}</td>
    <td class="right">${version ? percent(coverage) : ""}</td>
    <td class="right">${model.versions}</td>
    <td class="right">${age(model.created_at, now)}</td>
  </tr>`;
}
