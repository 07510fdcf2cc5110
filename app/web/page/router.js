/** Addresses of views: the part after `#`, such as `#/models/kiosk/versions/1?tab=effects`. */

import { useEffect, useRef, useState } from "./vendor/hooks.js";

/** @typedef {{ parts: string[], query: URLSearchParams }} Route */

/**
 * The address of a view, from the parts of its path and its query.
 * @param {string[]} parts
 * @param {Record<string, string>} [query]
 */
export function link(parts, query = {}) {
  const path = `#/${parts.map(encodeURIComponent).join("/")}`;
  const given = new URLSearchParams(query).toString();
  return given ? `${path}?${given}` : path;
}

/** @param {string} hash @returns {Route} */
export function parse(hash) {
  const [path, query] = hash.replace(/^#?\/?/, "").split("?", 2);
  return { parts: path.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(query ?? "") };
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @param {string} address */
export function goTo(address) {
  location.hash = address;
}

/**
 * Change the query of the current address, without a new entry in the history.
 * @param {Record<string, string>} query
 */
export function setQuery(query) {
  history.replaceState(null, "", link(parse(location.hash).parts, query));
}

/** The current route; the component is drawn again when it changes. */
export function useRoute() {
  const [route, setRoute] = useState(() => parse(location.hash));
  const drawn = useRef(location.hash);
  useEffect(() => {
    const changed = () => setRoute(parse(location.hash));
    addEventListener("hashchange", changed);
    if (location.hash !== drawn.current) changed(); // before there was a listener
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}
