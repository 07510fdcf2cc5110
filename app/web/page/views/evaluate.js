/** The evaluation of a version on a dataset. */

import { useState } from "../vendor/hooks.js";
import { post } from "../api.js";
import { html } from "../html.js";
import { AsCode } from "../parts/as-code.js";
import { DatasetChooser, versionOf } from "../parts/chooser.js";
import { Needs } from "../parts/needs.js";
import { Failure } from "../parts/states.js";
import { goTo, link, setQuery } from "../router.js";
import { useAction } from "../state.js";

const PATH = "v1/evaluations";

/** @param {{ name: string, number: string, query: URLSearchParams }} props */
export function Evaluate({ name, number, query }) {
  const [dataset, setDataset] = useState(query.get("dataset") ?? "");
  const version = versionOf(number);
  const body = { model: name, version, dataset_id: dataset };
  const action = useAction(async () => {
    const job = await post(PATH, body);
    goTo(link(["jobs", "evaluation", job.id]));
  });
  const choose = (/** @type {string} */ id) => {
    setDataset(id);
    setQuery({ dataset: id });
  };
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    action.start();
  };
  return html`
    <h1>Evaluate a version</h1>
    <p class="note"><a class="name" href=${link(["models", name, "versions", number])}>${name}, version ${number}</a> predicts all rows of a dataset that has its target;
      the predictions are compared with it.</p>
    <form class="stack" onSubmit=${submit}>
      <${DatasetChooser} value=${dataset} onChange=${choose} />
      <${Needs} scopes=${["train"]}><div class="actions"><button class="primary" disabled=${action.isBusy || !dataset}>Evaluate</button></div><//>
    </form>
    ${action.problem && html`<${Failure} problem=${action.problem} />`}
    ${dataset && html`<${AsCode} path=${PATH} body=${body} python=${[
      `job = service.evaluations.submit(${JSON.stringify(name)}, ${JSON.stringify(dataset)}, version=${JSON.stringify(version)})`,
      "print(service.evaluations.wait(job.id).result.metrics)",
    ]} />`}
  `;
}
