/** Requests to the service. Its session is a cookie, which the browser sends with each. */

import { embedded } from "./embedded.js";

/**
 * @typedef {{ pointer?: string, parameter?: string, column?: string, row?: number, ambiguity?: { cell: string, readings: { option: string, value: string, meaning: string }[] }, detail: string }} Fault
 * @typedef {{ type?: string, title: string, status: number, detail?: string, errors?: Fault[] }} ProblemBody
 */

/** The service's root: the page's own address without its hash. A report has no service. */
export const ROOT = embedded ? "" : new URL(".", document.baseURI).href;

/** Sent to `window` when a request needs a key and has no session. */
export const UNAUTHENTICATED = "relevance:unauthenticated";

/** A response that is not a success, or none at all (status 0). */
export class Problem extends Error {
  /** @param {ProblemBody} body */
  constructor(body) {
    super(body.detail ?? body.title);
    this.title = body.title;
    this.status = body.status;
    /** @type {Fault[]} */
    this.errors = body.errors ?? [];
  }

  get isOffline() {
    return this.status === 0;
  }
}

const NO_CONNECTION = { title: "No connection", status: 0, detail: "The service can't be reached." };

/**
 * Send a request, and return the JSON of its response; raises Problem.
 * @param {string} method
 * @param {string} path
 * @param {{ body?: unknown, headers?: Record<string, string>, signal?: AbortSignal }} [options]
 * @returns {Promise<any>}
 */
export async function request(method, path, { body, headers = {}, signal } = {}) {
  if (embedded) return embeddedResponse(method, path);
  const sent = body === undefined ? headers : { "Content-Type": "application/json", ...headers };
  let response;
  try {
    const content = body === undefined ? undefined : JSON.stringify(body);
    response = await fetch(ROOT + path.replace(/^\//, ""), {
      method,
      body: content,
      signal,
      headers: { Accept: "application/json", ...sent },
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(NO_CONNECTION);
  }
  return contentOf(response.status, await response.text());
}

/** @param {string} method @param {string} path */
function embeddedResponse(method, path) {
  const responses = method === "GET" && embedded ? embedded.responses : {};
  const found = responses[path] ?? responses[path.split("?")[0]];
  if (found === undefined) throw new Problem({ title: "Not part of the report", status: -1 });
  return found;
}

/** @param {string} path @param {AbortSignal} [signal] */
export const get = (path, signal) => request("GET", path, { signal });

/** @param {string} path @param {unknown} [body] @param {AbortSignal} [signal] */
export const post = (path, body, signal) => request("POST", path, { body, signal });

/** A resource with its entity tag; raises Problem. @param {string} path @returns {Promise<{ data: any, tag: string | null }>} */
export async function tagged(path) {
  const response = await responseTo(path, { Accept: "application/json" });
  return { data: contentOf(response.status, await response.text()), tag: response.headers.get("ETag") };
}

/**
 * The first bytes of a file as a text; raises Problem.
 * @param {string} path
 * @param {number} bytes
 */
export async function startOf(path, bytes) {
  const response = await responseTo(path, { Range: `bytes=0-${bytes - 1}` });
  const text = await response.text();
  return response.ok ? text : contentOf(response.status, text);
}

/** @param {string} path @param {Record<string, string>} headers */
const responseTo = (path, headers) => fetch(ROOT + path, { headers }).catch(() => {
  throw new Problem(NO_CONNECTION);
});

/**
 * @param {number} status
 * @param {string} text
 */
function contentOf(status, text) {
  const body = text ? parsed(text) : null;
  if (status >= 200 && status < 300) return body;
  const problem = new Problem(body?.title ? { ...body, status } : { title: `Status ${status}`, status });
  if (status === 401) dispatchEvent(new CustomEvent(UNAUTHENTICATED));
  throw problem;
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The options of a reading as pairs of a query; an option may have several values. @param {Record<string, string | string[]>} reading @returns {string[][]} */
export const readingPairs = (reading) => Object.entries(reading).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));

/**
 * Upload a file as a dataset, by options of its reading; `onProgress` gets the share that is sent.
 * @param {File} file
 * @param {{ kinds?: Record<string, string>, reading?: Record<string, string | string[]>, onProgress?: (share: number) => void }} [options]
 * @returns {Promise<any>}
 */
export function upload(file, { kinds = {}, reading = {}, onProgress = () => {} } = {}) {
  const query = new URLSearchParams([
    ...Object.entries(kinds).map(([name, kind]) => ["kinds", `${name}:${kind}`]),
    ...readingPairs(reading),
  ]);
  const form = new FormData();
  form.append("file", file);
  const sent = new XMLHttpRequest();
  sent.open("POST", `${ROOT}v1/datasets?${query}`);
  sent.setRequestHeader("Accept", "application/json");
  sent.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total);
  return new Promise((resolve, reject) => {
    sent.onerror = () => reject(new Problem(NO_CONNECTION));
    sent.onload = () => {
      try {
        resolve(contentOf(sent.status, sent.responseText));
      } catch (error) {
        reject(error);
      }
    };
    sent.send(form);
  });
}
