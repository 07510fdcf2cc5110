/** Options of a training, with the names, descriptions, ranges and defaults of the OpenAPI document. */

import { html } from "../html.js";
import { useResource } from "../state.js";
import { NumberInput } from "./number-input.js";
import { Shown } from "./states.js";
import { Text } from "./text.js";

const SCHEMA = "SupervisedRequest-Input";

/** What the view has elsewhere, or leaves out. */
const ELSEWHERE = new Set(["dataset_id", "target", "inputs", "task"]);

/** A class in any JSON type, which the service also reads as its text. */
const POSITIVE_CLASS = "positive_class";

/** What users change most; the order of the document follows. */
const FIRST = ["model", "effort", "missing", "holdout", "likelihood"];

/** @param {{ name: string }} field */
const rank = ({ name }) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);

/**
 * The inputs that a training reads; undefined where the service chooses them.
 * @param {{ columns: any[], target: string, inputs?: string[], onChange: (inputs: string[] | undefined) => void }} props
 */
export function Inputs({ columns, target, inputs, onChange }) {
  const possible = columns.map((column) => column.name).filter((name) => name !== target);
  const isRead = (/** @type {string} */ name) => inputs === undefined || inputs.includes(name);
  const toggle = (/** @type {string} */ toggled) => {
    const chosen = possible.filter((name) => (name === toggled ? !isRead(name) : isRead(name)));
    onChange(chosen.length === possible.length ? undefined : chosen);
  };
  return html`<fieldset class="inputs">
    <legend>Inputs</legend>
    ${possible.map((name) => html`<label key=${name}><input type="checkbox" checked=${isRead(name)} onChange=${() => toggle(name)} /> <span class="name">${name}</span></label>`)}
  </fieldset>`;
}

/** @param {{ values: Record<string, unknown>, onChange: (values: Record<string, unknown>) => void }} props */
export function Options({ values, onChange }) {
  const document = useResource("openapi.json");
  const change = (/** @type {string} */ name, /** @type {unknown} */ value) => {
    const { [name]: _, ...others } = values;
    onChange(value === undefined ? others : { ...others, [name]: value });
  };
  return html`<${Shown} of=${document} what="descriptions">${(/** @type {any} */ data) => {
    const { schemas } = data.components;
    const fields = Object.entries(schemas[SCHEMA].properties)
      .filter(([name]) => !ELSEWHERE.has(name))
      .map(([name, schema]) => fieldOf(name, schema, schemas))
      .filter((field) => field !== null)
      .sort((one, other) => rank(one) - rank(other));
    return fields.map((field) => html`<${Option} key=${field.name} field=${field} value=${values[field.name]}
      onChange=${(/** @type {unknown} */ value) => change(field.name, value)} />`);
  }}<//>`;
}

/**
 * @typedef {{ name: string, description: string, choices?: string[], isType?: boolean, isNumber?: boolean, isFlag?: boolean,
 *   initial?: unknown }} Field
 */

/**
 * The field of a member of the request; null where it has no simple form.
 * @param {string} name
 * @param {any} schema
 * @param {any} schemas
 * @returns {Field | null}
 */
function fieldOf(name, schema, schemas) {
  const resolved = (/** @type {any} */ one) => (one.$ref ? schemas[one.$ref.split("/").pop()] : one);
  const options = (schema.anyOf ?? schema.oneOf ?? [schema]).flatMap((/** @type {any} */ one) => resolved(one).oneOf ?? [one]);
  const some = options.map(resolved).filter((/** @type {any} */ one) => one.type !== "null");
  const base = { name, description: schema.description ?? "", initial: schema.default };
  const types = some.map((/** @type {any} */ one) => one.properties?.type?.const);
  if (types.length && types.every(Boolean)) {
    const choices = types.filter((/** @type {string} */ _, /** @type {number} */ index) => isComplete(some[index]));
    return choices.length ? { ...base, choices, isType: true, initial: schema["x-default"]?.type } : null;
  }
  const [only] = some;
  if (name === POSITIVE_CLASS) return base;
  if (some.length !== 1) return null;
  if (only.enum) return { ...base, choices: only.enum };
  if (only.type === "boolean") return { ...base, isFlag: true };
  if (only.type === "string") return base;
  return only.type === "integer" || only.type === "number" ? { ...base, isNumber: true } : null;
}

/** @param {string} name */
const title = (name) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");

/** Return whether a choice needs no members beside its type. @param {any} schema */
const isComplete = (schema) => (schema.required ?? []).every((/** @type {string} */ name) => name === "type");

/** @param {{ field: Field, value: unknown, onChange: (value: unknown) => void }} props */
function Option({ field, value, onChange }) {
  const id = `option-${field.name}`;
  return html`<div class="option">
    <div class="field">
      <label for=${id}>${title(field.name)}</label>
      <${Control} id=${id} field=${field} value=${value} onChange=${onChange} />
    </div>
    <p class="note" id=${`${id}-help`}><${Text}>${field.description}<//></p>
  </div>`;
}

/** @param {{ id: string, field: Field, value: any, onChange: (value: unknown) => void }} props */
function Control({ id, field, value, onChange }) {
  const help = `${id}-help`;
  const entered = (/** @type {any} */ event) => event.currentTarget.value;
  const initial = field.initial === undefined || field.initial === null ? "default" : `default: ${field.initial}`;
  if (field.choices || field.isFlag) {
    const choices = field.choices ?? ["true", "false"];
    const read = (/** @type {string} */ chosen) => (field.isFlag ? chosen === "true" : field.isType ? { type: chosen } : chosen);
    const change = (/** @type {Event} */ event) => onChange(entered(event) ? read(entered(event)) : undefined);
    return html`<select id=${id} aria-describedby=${help} value=${field.isType ? (value?.type ?? "") : String(value ?? "")} onChange=${change}>
      <option value="">${initial}</option>${choices.map((choice) => html`<option>${choice}</option>`)}
    </select>`;
  }
  if (field.isNumber) return html`<${NumberInput} id=${id} help=${help} value=${value} placeholder=${initial} onChange=${onChange} />`;
  const change = (/** @type {Event} */ event) => onChange(entered(event) || undefined);
  return html`<input id=${id} aria-describedby=${help} placeholder=${initial} value=${value ?? ""} onInput=${change} />`;
}
