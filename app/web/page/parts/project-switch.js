/** The choice among the projects in which a session may act. */

import { request } from "../api.js";
import { html } from "../html.js";
import { useAction, useResource } from "../state.js";

/** @param {{ owner: string, onSwitched: () => void }} props */
export function ProjectSwitch({ owner, onSwitched }) {
  const projects = useResource("v1/projects?limit=100");
  const action = useAction(async (/** @type {string} */ name) => {
    await request("POST", "v1/session", { headers: { "Relevance-Project": encodeURIComponent(name) } });
    onSwitched();
  });
  const names = (projects.data?.items ?? []).map((/** @type {any} */ one) => one.name);
  if (names.length < 2) return html`<span class="owner" title="The project in which you act">${owner}</span>`;
  const all = names.includes(owner) ? names : [owner, ...names];
  return html`<label class="project"><span class="hidden">Project</span>
    <select value=${owner} disabled=${action.isBusy} onChange=${(/** @type {any} */ event) => action.start(event.currentTarget.value)}>
      ${all.map((/** @type {string} */ name) => html`<option key=${name} value=${name}>${name}</option>`)}
    </select></label>
    ${action.problem && html`<span role="alert" class="warning">${action.problem.message}</span>`}`;
}
