/** A model: its versions, newest first, with their errors and aliases. */

import { age, counted, percent } from "../format.js";
import { html } from "../html.js";
import { AsCode } from "../parts/as-code.js";
import { honest, shortError } from "../parts/metrics.js";
import { useMore } from "../parts/more.js";
import { Empty, Shown } from "../parts/states.js";
import { link } from "../router.js";
import { useResource } from "../state.js";

/** @param {{ name: string }} props */
export function ModelView({ name }) {
  const path = `v1/models/${encodeURIComponent(name)}`;
  const model = useResource(path);
  const versions = useResource(`${path}/versions?limit=20`);
  return html`
    <h1 class="name">${name}</h1>
    <${Shown} of=${model} what="the model">${(/** @type {any} */ data) => html`
      <p class="note">Predicts <span class="name">${data.target ?? data.task}</span> from ${counted(data.inputs.length, "input")}. ${data.description ?? ""}</p>
      <${Shown} of=${versions} what="versions">${(/** @type {any} */ page) =>
        page.items.length
          ? html`<${Versions} path=${`${path}/versions?limit=20`} page=${page} model=${data} />`
          : html`<${Empty} title="No version"><p>All versions of this model were deleted.</p><//>`}<//>`}<//>
    <${AsCode} path=${`${path}/versions`} python=${[`for version in service.versions(${JSON.stringify(name)}):`, "    print(version.version, version.metrics)"]} />
  `;
}

/** @param {{ path: string, page: any, model: any }} props */
function Versions({ path, page, model }) {
  const { items, button } = useMore(path, { ...page, items: page.items.map((/** @type {any} */ one) => ({ id: one.version, ...one })) });
  const now = Date.now();
  const aliases = (/** @type {number} */ number) => Object.entries(model.aliases).filter(([, target]) => target === number).map(([alias]) => alias);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Versions"><table>
    <caption class="hidden">Versions</caption>
    <thead><tr>
      <th scope="col">Version</th><th scope="col">Aliases</th><th scope="col" class="right">Error</th>
      <th scope="col" class="right">In 95 % interval</th><th scope="col" class="right">Functions</th><th scope="col" class="right">Created</th>
    </tr></thead>
    <tbody>${items.map((version) => html`<tr key=${version.version}>
      <th scope="row"><a href=${link(["models", model.name, "versions", String(version.version)])}>Version ${version.version}</a></th>
      <td>${aliases(version.version).map((alias) => html`<span class="tag name">${alias}</span>`)}</td>
      <td class="right">${shortError(version)}</td><td class="right">${percent(honest(version)?.metrics.coverage_95)}</td>
      <td class="right">${version.functions ?? "–"}</td><td class="right">${age(version.created_at, now)}</td>
    </tr>`)}</tbody>
  </table></div>${button}`;
}
