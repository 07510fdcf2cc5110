/** The invitations of the session's owner, and the members of the project, with those that are invited. */

import { useState } from "../vendor/hooks.js";
import { request } from "../api.js";
import { moment } from "../format.js";
import { html } from "../html.js";
import { AsCode } from "../parts/as-code.js";
import { useMore } from "../parts/more.js";
import { Needs } from "../parts/needs.js";
import { PROJECTS_CHANGED } from "../parts/project-switch.js";
import { Failure, Shown } from "../parts/states.js";
import { permits } from "../session.js";
import { useAction, useResource } from "../state.js";

const INVITATIONS = "v1/projects?state=invited&limit=100";
const STATES = { member: "Members", invited: "Invited" };

export function Members() {
  return html`<h1>Members</h1>
    <${Invitations} />
    <${Needs} scopes=${["admin"]} what="The list of members">
      ${Object.entries(STATES).map(([state, title]) => html`<${List} key=${state} state=${state} title=${title} />`)}
      <${AsCode} path="v1/members?limit=100" python=${["for member in service.members.all():", "    print(member.subject, member.role)"]} />
    <//>`;
}

function Invitations() {
  const invitations = useResource(INVITATIONS);
  const projects = useResource("v1/projects?limit=100");
  const [outcome, setOutcome] = useState("");
  const own = projects.data?.items.find((/** @type {any} */ one) => one.role === "owner");
  const done = (/** @type {string} */ text) => {
    setOutcome(text);
    invitations.reload();
    dispatchEvent(new CustomEvent(PROJECTS_CHANGED));
  };
  return html`<section><h2>Your invitations</h2>
    <${Shown} of=${invitations} what="invitations">${(/** @type {any} */ page) => page.items.length
      ? html`<${Invited} page=${page} mayChange=${own === undefined || permits(own.scopes, "train")} onDone=${done} />`
      : html`<p class="note">No project has invited you.</p>`}<//>
    <div role="status">${outcome && html`<p class="name">${outcome}</p>`}</div>
  </section>`;
}

/** @param {{ page: any, mayChange: boolean, onDone: (text: string) => void }} props */
function Invited({ page, mayChange, onDone }) {
  const { items, button } = useMore(INVITATIONS, page);
  const action = useAction(async (/** @type {"PUT" | "DELETE"} */ method, /** @type {string} */ name) => {
    await request(method, `v1/projects/${encodeURIComponent(name)}`);
    onDone(method === "PUT" ? `You are a member of ${name}. Choose it in the list of projects to act in it.` : `You have declined the invitation to ${name}.`);
  });
  const choice = (/** @type {string} */ title, /** @type {"PUT" | "DELETE"} */ method, /** @type {string} */ name) => html`<button type="button" class="plain"
    disabled=${action.isBusy} onClick=${() => action.start(method, name)}>${title}<span class="hidden"> the invitation to ${name}</span></button>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Invitations"><table>
    <caption class="hidden">Invitations</caption>
    <thead><tr><th scope="col">Project</th><th scope="col">Role</th>${mayChange && html`<th scope="col"><span class="hidden">Actions</span></th>`}</tr></thead>
    <tbody>${items.map((item) => html`<tr key=${item.name}><th scope="row" class="name">${item.name}</th><td>${item.role}</td>
      ${mayChange && html`<td class="buttons">${choice("Accept", "PUT", item.name)}${choice("Decline", "DELETE", item.name)}</td>`}</tr>`)}</tbody>
  </table></div>${button}
  ${!mayChange && html`<p class="note">Accepting and declining needs a key with the scope train.</p>`}
  ${action.problem && html`<${Failure} problem=${action.problem} />`}`;
}

/** @param {{ state: string, title: string }} props */
function List({ state, title }) {
  const path = `v1/members?state=${state}&limit=100`;
  const members = useResource(path);
  return html`<section><h2>${title}</h2>
    <${Shown} of=${members} what=${title}>${(/** @type {any} */ page) => page.items.length
      ? html`<${Table} path=${path} page=${page} title=${title} />`
      : html`<p class="note">${state === "member" ? "Nobody but the owner of the project." : "Nobody is invited who has not accepted."}</p>`}<//>
  </section>`;
}

/** @param {{ path: string, page: any, title: string }} props */
function Table({ path, page, title }) {
  const { items, button } = useMore(path, page);
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${title}><table>
    <caption class="hidden">${title}</caption>
    <thead><tr><th scope="col">Owner</th><th scope="col">Role</th><th scope="col" class="right">Since</th></tr></thead>
    <tbody>${items.map((item) => html`<tr key=${item.subject}><th scope="row" class="name">${item.subject}</th><td>${item.role}</td>
      <td class="right">${moment(item.created_at)}</td></tr>`)}</tbody>
  </table></div>${button}`;
}
