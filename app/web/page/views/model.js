/** A model: its versions, newest first, with their errors and aliases. */

import { useState } from "../vendor/hooks.js";
import { age, counted, percent } from "../format.js";
import { html } from "../html.js";
import { AsCode } from "../parts/as-code.js";
import { Later } from "../parts/later.js";
import { honest, shortError } from "../parts/metrics.js";
import { pageOf, PageLinks } from "../parts/pages.js";
import { Empty, Shown } from "../parts/states.js";
import { goTo, link } from "../router.js";
import { useResource } from "../state.js";

const aliases = async () => (await import("../parts/aliases.js")).Aliases;
const removal = async () => (await import("../parts/removal.js")).Removal;

/** @param {{ name: string, query: URLSearchParams }} props */
export function ModelView({ name, query }) {
  const path = `v1/models/${encodeURIComponent(name)}`;
  const [chosen, setChosen] = useState(/** @type {number[]} */ ([]));
  const model = useResource(path);
  const versions = useResource(pageOf(`${path}/versions?limit=20`, query));
  return html`
    <h1 class="name">${name}</h1>
    <${Shown} of=${model} what="the model">${(/** @type {any} */ data) => html`
      <p class="note">Predicts <span class="name">${data.target ?? data.task}</span> from ${counted(data.inputs.length, "input")}. ${data.description ?? ""}</p>
      <${Shown} of=${versions} what="versions">${(/** @type {any} */ page) =>
        page.items.length
          ? html`<${Versions} items=${page.items} model=${data} chosen=${chosen} onChosen=${setChosen} /><${PageLinks} parts=${["models", name]} query=${query} page=${page} />`
          : html`<${Empty} title="No version"><p>All versions of this model were deleted.</p><//>`}<//>
      <${Later} what="aliases" load=${aliases} key=${query.get("version")} name=${name} version=${query.get("version") ?? ""} onChange=${model.reload} />
      <${Later} what="actions" load=${removal} path=${path} title="Delete the model" onDone=${() => goTo(link(["models"]))}
        question=${`Delete the model ${name} with ${data.versions === 1 ? "its version" : `all its ${counted(data.versions, "version")}`} and its aliases? This can't be undone.`} />`}<//>
    <${AsCode} path=${`${path}/versions`} python=${[`for version in service.versions(${JSON.stringify(name)}):`, "    print(version.version, version.metrics)"]} />
  `;
}

/** @param {{ items: any[], model: any, chosen: number[], onChosen: (chosen: number[]) => void }} props */
function Versions({ items, model, chosen, onChosen }) {
  const toggle = (/** @type {number} */ number) => onChosen(chosen.includes(number) ? chosen.filter((one) => one !== number) : [...chosen, number].slice(-2));
  const now = Date.now();
  const aliasesOf = (/** @type {number} */ number) => Object.entries(model.aliases).filter(([, target]) => target === number).map(([alias]) => alias);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Versions"><table>
    <caption class="hidden">Versions</caption>
    <thead><tr>
      ${model.versions > 1 && html`<th scope="col"><span class="hidden">Chosen</span></th>`}
      <th scope="col">Version</th><th scope="col">Aliases</th><th scope="col" class="right">Error</th>
      <th scope="col" class="right">In 95 % interval</th><th scope="col" class="right">Functions</th><th scope="col" class="right">Created</th>
    </tr></thead>
    <tbody>${items.map((version) => html`<tr key=${version.version}>
      ${model.versions > 1 && html`<td class="check"><input type="checkbox" aria-label=${`Compare version ${version.version}`} checked=${chosen.includes(version.version)} onChange=${() => toggle(version.version)} /></td>`}
      <th scope="row"><a href=${link(["models", model.name, "versions", String(version.version)])}>Version ${version.version}</a></th>
      <td>${aliasesOf(version.version).map((alias) => html`<span class="tag name">${alias}</span>`)}</td>
      <td class="right">${shortError(version)}</td><td class="right">${percent(honest(version)?.metrics.coverage_95)}</td>
      <td class="right">${version.functions ?? "–"}</td><td class="right">${age(version.created_at, now)}</td>
    </tr>`)}</tbody>
  </table></div>
  ${model.versions > 1 && html`<${Chosen} name=${model.name} chosen=${chosen} />`}`;
}

/** @param {{ name: string, chosen: number[] }} props */
function Chosen({ name, chosen }) {
  if (chosen.length < 2) return html`<p class="note">${chosen.length ? `Choose another version to compare with version ${chosen[0]}.` : "Choose two versions to compare them."}</p>`;
  const [first, second] = [...chosen].sort((one, other) => one - other).map(String);
  return html`<div class="actions"><a class="button" href=${link(["models", name, "compare"], { first, second })}>Compare versions ${first} and ${second}</a></div>`;
}
