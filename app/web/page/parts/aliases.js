/** The aliases of a model: their versions, moves with a reason, and their history. */

import { useState } from "../vendor/hooks.js";
import { tagged } from "../api.js";
import { age, moment } from "../format.js";
import { html } from "../html.js";
import { link } from "../router.js";
import { useAction, useResource } from "../state.js";
import { AliasForm } from "./alias-form.js";
import { useMore } from "./more.js";
import { usePermission } from "./needs.js";
import { Failure, Shown } from "./states.js";

/** @typedef {{ verb: "Set" | "Move" | "Remove", alias: string, version: string, tag: string | null }} Change */

/** @param {{ name: string, version: string, onChange: () => void }} props */
export function Aliases({ name, version, onChange }) {
  const path = `v1/models/${encodeURIComponent(name)}/aliases`;
  const aliases = useResource(`${path}?limit=100`);
  const mayChange = usePermission("train");
  const [change, setChange] = useState(/** @type {Change | null} */ (version ? { verb: "Set", alias: "", version, tag: null } : null));
  const opening = useAction(async (/** @type {"Move" | "Remove"} */ verb, /** @type {string} */ alias) => {
    const { data, tag } = await tagged(`${path}/${encodeURIComponent(alias)}`);
    setChange({ verb, alias, version: String(data.version), tag });
  });
  const done = () => {
    setChange(null);
    aliases.reload();
    onChange();
  };
  return html`<section><h2>Aliases</h2>
    <${Shown} of=${aliases} what="aliases">${(/** @type {any} */ page) => page.items.length > 0
      ? html`<${List} items=${page.items} path=${path} mayChange=${mayChange} onOpen=${opening.start} />`
      : html`<p class="note">No alias yet. An alias, such as champion, is a name for one version, which programs use in place of its number.</p>`}<//>
    ${opening.problem && html`<${Failure} problem=${opening.problem} />`}
    ${mayChange && (change
      ? html`<${AliasForm} key=${`${change.verb} ${change.alias} ${change.tag}`} name=${name} path=${path} change=${change} onDone=${done} onCancel=${() => setChange(null)} />`
      : html`<div class="actions"><button type="button" onClick=${() => setChange({ verb: "Set", alias: "", version: "", tag: null })}>Set an alias</button></div>`)}
  </section>`;
}

/** @param {{ items: any[], path: string, mayChange: boolean, onOpen: (verb: "Move" | "Remove", alias: string) => void }} props */
function List({ items, path, mayChange, onOpen }) {
  const [history, setHistory] = useState(/** @type {string | null} */ (null));
  const now = Date.now();
  const button = (/** @type {string} */ title, /** @type {string} */ alias, /** @type {() => void} */ act, /** @type {boolean | undefined} */ expanded) => html`<button type="button" class="plain" aria-expanded=${expanded} onClick=${act}>${title}<span class="hidden"> ${alias}</span></button>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Aliases"><table>
    <caption class="hidden">Aliases</caption>
    <thead><tr><th scope="col">Alias</th><th scope="col">Points to</th><th scope="col">Reason</th><th scope="col">By</th><th scope="col" class="right">Moved</th><th scope="col"><span class="hidden">Actions</span></th></tr></thead>
    <tbody>${items.map((item) => html`<tr key=${item.alias}>
      <th scope="row" class="name">${item.alias}</th>
      <td class="whole"><a href=${link(["models", item.model, "versions", String(item.version)])}>version ${item.version}</a></td><td class="name reason">${item.reason ?? ""}</td>
      <td class="name">${item.moved_by}</td><td class="right">${age(item.moved_at, now)}</td>
      <td class="buttons">${mayChange && ["Move", "Remove"].map((verb) => button(verb, item.alias, () => onOpen(/** @type {any} */ (verb), item.alias), undefined))}
        ${button("History", item.alias, () => setHistory(history === item.alias ? null : item.alias), history === item.alias)}</td></tr>`)}</tbody>
  </table></div>
  ${history !== null && html`<${History} key=${history} path=${`${path}/${encodeURIComponent(history)}/history?limit=20`} alias=${history} />`}`;
}

/** @param {{ path: string, alias: string }} props */
function History({ path, alias }) {
  const moves = useResource(path);
  return html`<h3>History of <span class="name">${alias}</span></h3>
    <${Shown} of=${moves} what="the history">${(/** @type {any} */ page) => html`<${Moves} path=${path} page=${page} />`}<//>`;
}

/** @param {{ path: string, page: any }} props */
function Moves({ path, page }) {
  const { items, button } = useMore(path, page);
  const version = (/** @type {number | null} */ number) => (number === null ? "none" : `version ${number}`);
  return html`<ul class="history">${items.map((one) => html`<li key=${one.number}>${moment(one.at)}: from ${version(one.from_version)} to ${version(one.to_version)},
    by <span class="name">${one.by}</span>${one.reason ? html`. <span class="name">${one.reason}</span>` : ""}</li>`)}</ul>${button}`;
}
