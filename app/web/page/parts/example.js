/** The example: a made-up table of an ice cream kiosk, uploaded and trained by one click. */

import { post, upload } from "../api.js";
import { html } from "../html.js";
import { goTo, link } from "../router.js";
import { useAction } from "../state.js";
import { usePermission } from "./needs.js";
import { Failure } from "./states.js";

async function start() {
  const response = await fetch(new URL("../example/kiosk.csv", import.meta.url));
  const dataset = await upload(new File([await response.blob()], "kiosk.csv", { type: "text/csv" }));
  const job = await post("v1/training-jobs", { dataset_id: dataset.id, target: "litres" });
  goTo(link(["jobs", "training", job.id]));
}

/** `children` introduce the button. @param {{ children?: unknown }} props */
export function Example({ children }) {
  const action = useAction(start);
  if (!usePermission("train")) return null;
  return html`
    ${children}
    <button type="button" disabled=${action.isBusy} onClick=${() => action.start()}>Try the example</button>
    ${action.problem && html`<${Failure} problem=${action.problem} />`}
  `;
}
