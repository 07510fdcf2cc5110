/** The states of what is read from the service: not there yet, not there at all, out of date. */

import { embedded } from "../embedded.js";
import { html } from "../html.js";

/** @param {{ what?: string }} props */
export function Loading({ what = "" }) {
  return html`<div class="loading" role="status">
    <span class="hidden">Loading ${what}</span>
    <i></i><i></i><i></i>
  </div>`;
}

/**
 * A problem in words, with its faults, and an action that may help.
 * @param {{ problem: any, retry?: () => void }} props
 */
export function Failure({ problem, retry }) {
  const faults = (problem.errors ?? []).filter((/** @type {any} */ fault) => fault.detail !== problem.message);
  return html`<div class="failure" role="alert">
    <strong>${problem.title ?? "Something went wrong"}</strong>
    ${problem.message && html`<p>${problem.message}</p>`}
    ${faults.length > 0 && html`<ul>${faults.slice(0, 10).map((/** @type {any} */ fault) => html`<li>${placed(fault)}</li>`)}</ul>`}
    ${retry && html`<button type="button" onClick=${retry}>Try again</button>`}
  </div>`;
}

/** @param {any} fault */
function placed(fault) {
  const place = fault.column ?? fault.pointer?.replace(/^\//, "") ?? fault.parameter;
  return place ? `${place}: ${fault.detail}` : fault.detail;
}

/** @param {{ title: string, isView?: boolean, children?: unknown }} props */
export function Empty({ title, isView = false, children }) {
  return html`<div class="empty">${isView ? html`<h1>${title}</h1>` : html`<h2>${title}</h2>`}${children}</div>`;
}

/**
 * A resource as its state is; `children` draws what was read. A view without it has the `title`. What a report does not
 * have is left out.
 * @param {{ of: import("../state.js").Resource<any>, what: string, title?: string, children: (data: any) => unknown }} props
 */
export function Shown({ of: resource, what, title, children }) {
  const { data, error, reload } = resource;
  if (data === null) {
    if (embedded && error) return null;
    return html`${title && html`<h1>${title}</h1>`}
      ${error ? html`<${Failure} problem=${error} retry=${reload} />` : html`<${Loading} what=${what} />`}`;
  }
  return html`
    ${error && html`<p class="stale" role="status">
      Out of date: ${error.message} <button type="button" class="plain" onClick=${reload}>Try again</button>
    </p>`}
    ${children(data)}
  `;
}
