/** Upload of a file, by drop or by choice, with its progress. */

import { useRef, useState } from "../vendor/hooks.js";
import { upload } from "../api.js";
import { percent, size } from "../format.js";
import { html } from "../html.js";
import { useAction } from "../state.js";
import { Needs } from "./needs.js";
import { ReadAgain } from "./reading.js";
import { Failure } from "./states.js";

const SUFFIXES = ".csv,.tsv,.json,.ndjson,.jsonl,.parquet,.arrow,.feather,.xlsx,.png,.npy";

/** The file of the last upload and its options, by the id of its dataset: it can still be read otherwise. */
export const recent = /** @type {Map<string, { file: File, reading: import("./reading.js").Reading }>} */ (new Map());

/** @param {{ onUploaded: (dataset: any) => void, isCompact?: boolean }} props */
export function DropZone({ onUploaded, isCompact = false }) {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [isOver, setOver] = useState(false);
  const [sent, setSent] = useState({ name: "", size: 0, share: 0 });
  const last = useRef(/** @type {{ file: File, reading: import("./reading.js").Reading } | null} */ (null));
  const action = useAction(async (/** @type {File} */ file, /** @type {import("./reading.js").Reading} */ reading) => {
    last.current = { file, reading };
    setSent({ name: file.name, size: file.size, share: 0 });
    const onProgress = (/** @type {number} */ share) => setSent((before) => ({ ...before, share }));
    const dataset = await upload(file, { reading, onProgress });
    recent.clear();
    recent.set(dataset.id, last.current);
    onUploaded(dataset);
  });
  const take = (/** @type {FileList | null | undefined} */ files) => files?.[0] && action.start(files[0], {});
  const over = (/** @type {boolean} */ is) => (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    setOver(is);
  };
  const drop = (/** @type {DragEvent} */ event) => {
    over(false)(event);
    take(event.dataTransfer?.files);
  };
  const chosen = (/** @type {any} */ event) => {
    take(event.currentTarget.files);
    event.currentTarget.value = "";
  };
  return html`<${Needs} scopes=${["train"]} what="An upload"><div class=${`drop ${isOver ? "over" : ""} ${isCompact ? "compact" : ""}`}
      onDragOver=${over(true)} onDragEnter=${over(true)} onDragLeave=${over(false)} onDrop=${drop}>
    ${action.isBusy ? html`<${Sending} ...${sent} />` : html`
      <p>Drop a table here, or <button type="button" class="primary" onClick=${() => input.current?.click()}>Choose a file</button></p>
      <p class="note">CSV, JSON, Parquet, Arrow, Excel; PNG and npy are images.</p>`}
    <input class="hidden" type="file" tabindex="-1" aria-label="File to upload" accept=${SUFFIXES} ref=${input} onChange=${chosen} />
    ${action.problem && html`<${Failure} problem=${action.problem} />
      ${last.current && html`<${ReadAgain} reading=${last.current.reading} problem=${action.problem} isBusy=${action.isBusy}
        onRead=${(/** @type {any} */ reading) => last.current && action.start(last.current.file, reading)} />`}`}
  </div><//>`;
}

/** @param {{ name: string, size: number, share: number }} props */
function Sending({ name, size: bytes, share }) {
  const isSent = share >= 1;
  return html`<p role="status">${isSent ? `Reading ${name}` : `Uploading ${name}, ${size(bytes)}`}</p>
    <progress aria-label="Upload" value=${isSent ? undefined : share} max="1">${percent(share)}</progress>`;
}
