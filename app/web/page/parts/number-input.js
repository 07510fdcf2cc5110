/** A field for a number: what is typed stays as it is typed until the field is left. */

import { useState } from "../vendor/hooks.js";
import { html } from "../html.js";

/**
 * @param {{ id: string, value: number | undefined, onChange: (value: number | undefined) => void, placeholder?: string, help?: string }} props
 */
export function NumberInput({ id, value, onChange, placeholder, help }) {
  const [typed, setTyped] = useState(/** @type {string | null} */ (null));
  const isWrong = typed !== null && typed.trim() !== "" && !Number.isFinite(Number(typed));
  const change = (/** @type {any} */ event) => {
    const text = event.currentTarget.value.trim();
    setTyped(event.currentTarget.value);
    if (text === "") onChange(undefined);
    else if (Number.isFinite(Number(text))) onChange(Number(text));
  };
  return html`<input id=${id} type="text" inputmode="decimal" autocomplete="off" aria-describedby=${help} aria-invalid=${isWrong}
    placeholder=${placeholder} value=${typed ?? value ?? ""} onInput=${change} onBlur=${() => setTyped(null)} />`;
}
