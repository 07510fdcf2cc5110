/** The choice among the projects in which a session may act, and the link to its invitations and to the members. */

import { useEffect } from "../vendor/hooks.js";
import { request } from "../api.js";
import { counted } from "../format.js";
import { html } from "../html.js";
import { link } from "../router.js";
import { useAction, useResource } from "../state.js";

/** Sent to `window` when the session's owner has accepted or declined an invitation. */
export const PROJECTS_CHANGED = "relevance:projects";

/** @param {{ owner: string, onSwitched: () => void }} props */
export function ProjectSwitch({ owner, onSwitched }) {
  const projects = useResource("v1/projects?limit=100");
  const invitations = useResource("v1/projects?state=invited&limit=100");
  useEffect(() => {
    const changed = () => (projects.reload(), invitations.reload());
    addEventListener(PROJECTS_CHANGED, changed);
    return () => removeEventListener(PROJECTS_CHANGED, changed);
  }, []);
  const action = useAction(async (/** @type {string} */ name) => {
    await request("POST", "v1/session", { headers: { "Relevance-Project": encodeURIComponent(name) } });
    onSwitched();
  });
  const names = (projects.data?.items ?? []).map((/** @type {any} */ one) => one.name);
  const pending = invitations.data?.items.length ?? 0;
  const members = html`<a href=${link(["members"])}>${pending > 0 ? html`<strong>${counted(pending, "invitation")}</strong>` : "Members"}</a>`;
  if (names.length < 2) return html`<span class="owner" title="The project in which you act">${owner}</span>${members}`;
  const all = names.includes(owner) ? names : [owner, ...names];
  return html`<label class="project"><span class="hidden">Project</span>
    <select value=${owner} disabled=${action.isBusy} onChange=${(/** @type {any} */ event) => action.start(event.currentTarget.value)}>
      ${all.map((/** @type {string} */ name) => html`<option key=${name} value=${name}>${name}</option>`)}
    </select></label>${members}
    ${action.problem && html`<span role="alert" class="warning">${action.problem.message}</span>`}`;
}
