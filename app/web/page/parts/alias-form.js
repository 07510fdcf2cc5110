/** The form that sets, moves or removes an alias, with a reason for its history. */

import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { request } from "../api.js";
import { html } from "../html.js";
import { useAction } from "../state.js";
import { AsCode } from "./as-code.js";
import { versionOf } from "./chooser.js";
import { Failure } from "./states.js";

/**
 * @param {{ name: string, path: string, change: import("./aliases.js").Change, onDone: () => void, onCancel: () => void }} props
 */
export function AliasForm({ name, path, change, onDone, onCancel }) {
  const { verb, tag } = change;
  const [alias, setAlias] = useState(change.alias);
  const [version, setVersion] = useState(change.version);
  const [given, setReason] = useState("");
  const reason = given.trim();
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  useEffect(() => form.current?.querySelector("input")?.focus(), []);
  const isRemoval = verb === "Remove";
  const target = `${path}/${encodeURIComponent(alias)}${isRemoval && reason ? `?reason=${encodeURIComponent(reason)}` : ""}`;
  const body = isRemoval ? undefined : { version: versionOf(version), ...(reason && { reason }) };
  const method = isRemoval ? "DELETE" : "PUT";
  const action = useAction(async () => {
    await request(method, target, { body, headers: condition(verb, tag) });
    onDone();
  });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    action.start();
  };
  return html`<form class="panel" ref=${form} onSubmit=${submit} aria-label=${`${verb} ${change.alias || "an alias"}`}>
    ${isRemoval && html`<p>Remove the alias <strong class="name">${alias}</strong> from version ${version}? Programs that use it will find no version.</p>`}
    <div class="filters">
      ${verb === "Set" && html`<${TextField} id="alias" label="Alias" value=${alias} onChange=${setAlias} required placeholder="champion" />`}
      ${!isRemoval && html`<${TextField} id="version" label=${verb === "Set" ? "Version" : `Move ${alias} to version`} value=${version} onChange=${setVersion} required size="8" />`}
      <${TextField} id="reason" label="Reason" value=${given} onChange=${setReason} size="36" maxlength="500" />
      <div class="actions end"><button class=${isRemoval ? "danger" : "primary"} disabled=${action.isBusy}>${verb}</button><button type="button" onClick=${onCancel}>Cancel</button></div>
    </div>
    ${action.problem && html`<${Failure} problem=${explained(action.problem, verb)} />`}
    ${alias && version && html`<${AsCode} method=${method} path=${target} body=${body} python=${[call(name, alias, isRemoval ? null : versionOf(version), reason)]} />`}
  </form>`;
}

/**
 * Nobody else's move is overwritten: the alias has to be as it was shown, or not to exist.
 * @param {string} verb
 * @param {string | null} tag
 * @returns {Record<string, string>}
 */
function condition(verb, tag) {
  if (verb === "Set") return { "If-None-Match": "*" };
  return tag ? { "If-Match": tag } : {};
}

/** @param {import("../api.js").Problem} problem @param {string} verb */
function explained(problem, verb) {
  if (problem.status !== 412) return problem;
  const message = verb === "Set" ? "There is such an alias already: move it instead." : "Somebody else has moved it since it was shown. Cancel, and look at it again.";
  return { title: "Nothing was changed", message };
}

/** @param {string} name @param {string} alias @param {string | number | null} version @param {string} reason */
function call(name, alias, version, reason) {
  const given = [name, alias, ...(version === null ? [] : [version])].map((one) => JSON.stringify(one)).join(", ");
  return `service.aliases.${version === null ? "delete" : "move"}(${given}${reason ? `, reason=${JSON.stringify(reason)}` : ""})`;
}

/** @param {{ id: string, label: string, value: string, onChange: (value: string) => void, [option: string]: any }} props */
function TextField({ id, label, value, onChange, ...options }) {
  return html`<div class="field"><label for=${id}>${label}</label>
    <input id=${id} autocomplete="off" spellcheck=${false} value=${value} ...${options} onInput=${(/** @type {any} */ event) => onChange(event.currentTarget.value)} /></div>`;
}
