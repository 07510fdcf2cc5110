/** A button that deletes something, after a confirmation that names it and what else goes. */

import { request } from "../api.js";
import { html } from "../html.js";
import { useAction } from "../state.js";
import { usePermission } from "./needs.js";
import { Failure } from "./states.js";

/**
 * @param {{ path: string, title: string, question: string, scopes?: string[], onDone: () => void }} props
 */
export function Removal({ path, title, question, scopes = ["train"], onDone }) {
  const mayRemove = usePermission(...scopes);
  const action = useAction(async () => {
    await request("DELETE", path);
    onDone();
  });
  if (!mayRemove) return null;
  return html`<div class="actions">
    <button type="button" class="danger" disabled=${action.isBusy} onClick=${() => confirm(question) && action.start()}>${title}</button>
  </div>
  ${action.problem && html`<${Failure} problem=${action.problem} />`}`;
}
