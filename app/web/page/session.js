/** The session: whose requests these are, and the form that exchanges an API key for a cookie. */

import { createContext } from "./vendor/preact.js";
import { useState } from "./vendor/hooks.js";
import { request } from "./api.js";
import { html } from "./html.js";
import { Failure } from "./parts/states.js";
import { useAction } from "./state.js";

/** The requests of a service that needs keys name one in their code. */
export const NeedsKey = createContext(false);

/** The scopes of the session. */
export const Scopes = createContext(/** @type {string[]} */ ([]));

/** @param {string[]} scopes @param {string} scope */
export const permits = (scopes, scope) => scopes.includes("admin") || scopes.includes(scope);

/** @param {{ onDone: () => void }} props */
export function Login({ onDone }) {
  const [key, setKey] = useState("");
  const login = useAction(async () => {
    await request("POST", "v1/session", { headers: { Authorization: `Bearer ${key.trim()}` } });
    setKey("");
    onDone();
  });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    login.start();
  };
  return html`<main class="login" id="main" tabindex="-1">
    <h1>Log in</h1>
    <p>This service needs an API key. The page exchanges it for a session, and keeps no key.</p>
    <form onSubmit=${submit}>
      <label for="key">API key</label>
      <input id="key" type="password" autocomplete="off" spellcheck=${false} required value=${key}
        onInput=${(/** @type {any} */ event) => setKey(event.currentTarget.value)} />
      <button class="primary" disabled=${login.isBusy}>Log in</button>
    </form>
    ${login.problem && html`<${Failure} problem=${explained(login.problem)} />`}
  </main>`;
}

/** @param {import("./api.js").Problem} problem */
function explained(problem) {
  if (problem.status !== 401) return problem;
  return { title: "This key is not valid", message: "It is unknown, revoked or expired. `relevance keys create` creates one." };
}
