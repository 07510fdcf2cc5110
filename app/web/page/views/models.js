/** The list of models. */

import { html } from "../html.js";
import { AsCode } from "../parts/as-code.js";
import { ModelTable } from "../parts/model-table.js";
import { pageOf, PageLinks } from "../parts/pages.js";
import { Empty, Shown } from "../parts/states.js";
import { link } from "../router.js";
import { useResource } from "../state.js";

const PATH = "v1/models?limit=20";

/** @param {{ query: URLSearchParams }} props */
export function Models({ query }) {
  const path = pageOf(PATH, query);
  const models = useResource(path);
  return html`
    <h1>Models</h1>
    <${Shown} of=${models} what="models">${(/** @type {any} */ page) =>
      page.items.length ? html`<${ModelTable} models=${page.items} /><${PageLinks} parts=${["models"]} query=${query} page=${page} />` : html`<${None} />`}<//>
    <${AsCode} path=${path} python=${["for model in service.models():", "    print(model.name, model.latest)"]} />
  `;
}

const None = () => html`<${Empty} title="No model yet"><p>Choose a <a href=${link(["datasets"])}>dataset</a> and train one.</p><//>`;
