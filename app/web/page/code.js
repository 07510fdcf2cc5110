/** The requests of the page as commands of curl, and as programs with the Python client. */

import { ROOT } from "./api.js";

/** @typedef {{ curl: string, python: string }} Code */

const KEY = '-H "Authorization: Bearer $RELEVANCE_API_KEY"';

/** A text as a word of a shell. @param {string} text */
export const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * A value as an expression of Python.
 * @param {unknown} value
 * @returns {string}
 */
export function python(value) {
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${python(member)}`);
  return `{${members.join(", ")}}`;
}

/**
 * A command of curl.
 * @param {boolean} needsKey
 * @param {string} path
 * @param {{ method?: string, body?: unknown, file?: string }} [options]
 */
export function curl(needsKey, path, { method, body, file } = {}) {
  const words = ["curl -s", quoted(ROOT + path.replace(/^\//, ""))];
  if (method) words.splice(1, 0, `-X ${method}`);
  if (needsKey) words.push(KEY);
  if (body !== undefined) words.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`);
  if (file !== undefined) words.push(`-F ${quoted(`file=@"${file.replace(/["\\]/g, "\\$&")}"`)}`);
  return words.join(" \\\n  ");
}

/**
 * A program with the Python client, which takes the key from `RELEVANCE_API_KEY`.
 * @param {boolean} needsKey
 * @param {string[]} lines
 * @param {string[]} [modules]
 */
export function program(needsKey, lines, modules = []) {
  const url = JSON.stringify(ROOT.replace(/\/$/, ""));
  const key = needsKey ? ', api_key=os.environ["RELEVANCE_API_KEY"]' : "";
  const standard = [...(needsKey ? ["import os"] : []), ...modules];
  const imports = [...standard, ...(standard.length ? [""] : []), "from relevance_bayes.client import connect", ""];
  return [...imports, `with connect(${url}${key}) as service:`, ...lines.map((line) => `    ${line}`)].join("\n");
}
