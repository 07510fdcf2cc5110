/** What was just done, as a command of curl and as a program with the Python client. */

import { useContext, useState } from "../vendor/hooks.js";
import { curl, program } from "../code.js";
import { html } from "../html.js";
import { NeedsKey } from "../session.js";

/**
 * @param {{ path: string, method?: string, body?: unknown, file?: string, imports?: string[], python: string[] }} props
 */
export function AsCode({ path, method, body, file, imports = [], python }) {
  const needsKey = useContext(NeedsKey);
  return html`<details class="code">
    <summary>As curl, as Python</summary>
    <${Snippet} title="curl" text=${curl(needsKey, path, { method, body, file })} />
    <${Snippet} title="Python" text=${program(needsKey, python, imports)} />
  </details>`;
}

/** @param {{ title: string, text: string }} props */
function Snippet({ title, text }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return html`<figure>
    <figcaption>
      ${title}
      ${navigator.clipboard && html`<button type="button" class="plain" onClick=${copy}>Copy<span class="hidden"> ${title}</span></button>`}
      <span role="status">${isCopied ? "Copied" : ""}</span>
    </figcaption>
    <pre tabindex="0" aria-label=${`As ${title}`}><code>${text}</code></pre>
  </figure>`;
}
