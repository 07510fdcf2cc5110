/** The list of datasets, and the upload of another. */

import { age, count } from "../format.js";
import { html } from "../html.js";
import { AsCode } from "../parts/as-code.js";
import { DropZone } from "../parts/drop-zone.js";
import { Example } from "../parts/example.js";
import { pageOf, PageLinks } from "../parts/pages.js";
import { Empty, Shown } from "../parts/states.js";
import { goTo, link } from "../router.js";
import { useResource } from "../state.js";

const PATH = "v1/datasets?limit=50";

/** @param {{ query: URLSearchParams }} props */
export function Datasets({ query }) {
  const path = pageOf(PATH, query);
  const datasets = useResource(path);
  return html`
    <h1>Datasets</h1>
    <${DropZone} isCompact onUploaded=${(/** @type {any} */ dataset) => goTo(link(["datasets", dataset.id]))} />
    <${Shown} of=${datasets} what="datasets">${(/** @type {any} */ page) =>
      page.items.length ? html`<${List} items=${page.items} /><${PageLinks} parts=${["datasets"]} query=${query} page=${page} />` : html`<${None} />`}<//>
    <${AsCode} path=${path} python=${["for dataset in service.datasets():", "    print(dataset.id, dataset.name, dataset.rows)"]} />
  `;
}

function None() {
  return html`<${Empty} title="No dataset yet">
    <${Example}><p>Drop a file above, or begin with 150 made-up days of an ice cream kiosk.</p><//>
  <//>`;
}

/** @param {{ items: any[] }} props */
function List({ items }) {
  const now = Date.now();
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Datasets"><table>
    <caption class="hidden">Datasets</caption>
    <thead><tr><th scope="col">Name</th><th scope="col" class="right">Rows</th><th scope="col" class="right">Columns</th><th scope="col" class="right">Uploaded</th></tr></thead>
    <tbody>${items.map((dataset) => html`<tr key=${dataset.id}>
      <th scope="row"><a class="name" href=${link(["datasets", dataset.id])}>${dataset.name}</a></th>
      <td class="right">${count(dataset.rows)}</td><td class="right">${count(dataset.columns.length)}</td>
      <td class="right">${age(dataset.created_at, now)}</td>
    </tr>`)}</tbody>
  </table></div>`;
}
