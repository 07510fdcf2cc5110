/** A view whose modules are loaded when it is opened. */

import { useEffect, useState } from "../vendor/hooks.js";
import { html } from "../html.js";
import { Failure, Loading } from "./states.js";

/** @param {{ load: () => Promise<unknown>, what: string, [name: string]: unknown }} props */
export function Later({ load, what, ...props }) {
  const [found, setFound] = useState({ view: /** @type {any} */ (null), hasFailed: false });
  useEffect(() => {
    load().then((view) => setFound({ view, hasFailed: false }), () => setFound({ view: null, hasFailed: true }));
  }, [load]);
  if (found.hasFailed) {
    const problem = { title: "The view can't be loaded", message: "The service can't be reached, or has another release now." };
    return html`<${Failure} problem=${problem} retry=${() => location.reload()} />`;
  }
  return found.view ? html`<${found.view} ...${props} />` : html`<${Loading} what=${what} />`;
}
