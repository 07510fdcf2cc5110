/** The list of models. */

import { html } from "../html.js";
import { AsCode } from "../parts/as-code.js";
import { ModelTable } from "../parts/model-table.js";
import { useMore } from "../parts/more.js";
import { Empty, Shown } from "../parts/states.js";
import { link } from "../router.js";
import { useResource } from "../state.js";

const PATH = "v1/models?limit=20";

export function Models() {
  const models = useResource(PATH);
  return html`
    <h1>Models</h1>
    <${Shown} of=${models} what="models">${(/** @type {any} */ page) =>
      page.items.length ? html`<${List} page=${page} />` : html`<${None} />`}<//>
    <${AsCode} path=${PATH} python=${["for model in service.models():", "    print(model.name, model.latest)"]} />
  `;
}

const None = () => html`<${Empty} title="No model yet"><p>Choose a <a href=${link(["datasets"])}>dataset</a> and train one.</p><//>`;

/** @param {{ page: any }} props */
function List({ page }) {
  const { items, button } = useMore(PATH, page);
  return html`<${ModelTable} models=${items} />${button}`;
}
