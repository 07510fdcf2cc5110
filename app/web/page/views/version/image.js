/** A version of an image: the original, and its reconstruction from a number of functions. */

import { useState } from "../../vendor/hooks.js";
import { ROOT } from "../../api.js";
import { embedded } from "../../embedded.js";
import { ImageErrorPlot } from "../../figures/image-error.js";
import { count, number } from "../../format.js";
import { html } from "../../html.js";
import { useResource } from "../../state.js";

/** @param {{ version: any, path: string }} props */
export function ImageVersion({ version, path }) {
  const [functions, setFunctions] = useState(version.functions);
  const [loaded, setLoaded] = useState({ wanted: functions, shown: functions });
  // While an image is on its way no other is requested: the newest number follows it.
  const isBusy = loaded.wanted !== loaded.shown;
  const change = (/** @type {any} */ event) => {
    const wanted = Number(event.currentTarget.value);
    setFunctions(wanted);
    if (!isBusy) setLoaded((last) => ({ ...last, wanted }));
  };
  const arrived = () => setLoaded((last) => ({ shown: last.wanted, wanted: functions }));
  const source = loaded.wanted === version.functions ? `${path}/image` : `${path}/image?functions=${loaded.wanted}`;
  const values = version.height * version.width;
  const what = `${count(functions)} of ${count(version.functions)} functions`;
  return html`<section><h2>Reconstruction</h2>
    <p class="note">${count(version.functions)} functions for ${count(values)} pixels, with a root mean squared error of ${number(version.error)}${version.psnr ? `: ${number(version.psnr)} dB` : ""}.
      ${version.peak !== 1 && "Each image is drawn from black at its least intensity to white at its greatest."}</p>
    <div class="plots">
      ${embedded ? embedded.original && html`<${Original} version=${version} source=${embedded.original} />` : html`<${StoredOriginal} version=${version} />`}
      ${embedded ? embedded.image && html`<figure class="plot image"><h3>The image from ${what}</h3>
        <img src=${embedded.image} alt=${`The image from ${what}`} width=${version.width} height=${version.height} /></figure>` : html`
      <figure class="plot image"><h3>The image from ${what}</h3>
        <img src=${ROOT + source} alt=${`The image from ${what}`} width=${version.width} height=${version.height} onLoad=${arrived} onError=${arrived} />
        <label>Functions, those with the largest weights first
          <input type="range" min="1" max=${version.functions} step="1" value=${functions} onInput=${change} /></label>
        <p class="note">Weights are those of the whole sum: with fewer functions they are not fitted again.</p>
      </figure>`}
      ${version.path.length > 1 && html`<${ImageErrorPlot} steps=${version.path} />`}
    </div>
    ${!embedded && html`<p class="actions"><a class="button" download href=${`${ROOT}${path}/image`}>PNG</a></p>`}
  </section>`;
}

/** @param {{ version: any, source: string }} props */
function Original({ version, source }) {
  return html`<figure class="plot image"><h3>The original</h3>
    <img src=${source} alt="The original" width=${version.width} height=${version.height} /></figure>`;
}

/** The image of the dataset, while that is there. @param {{ version: any }} props */
function StoredOriginal({ version }) {
  const path = `v1/datasets/${encodeURIComponent(version.dataset.id)}`;
  const { data, error } = useResource(path);
  if (data) return html`<${Original} version=${version} source=${`${ROOT}${path}/image`} />`;
  return error && html`<p class="note">${/** @type {any} */ (error).status === 404 ? "The dataset was deleted: the original can't be shown." : error.message}</p>`;
}
