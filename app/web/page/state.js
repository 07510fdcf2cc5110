/** State of components: resources of the API, streams of events, and actions. */

import { useCallback, useEffect, useRef, useState } from "./vendor/hooks.js";
import { get, Problem, ROOT } from "./api.js";

/**
 * @template T
 * @typedef {{ data: T | null, error: Error | null, reload: () => void, set: (change: (data: T) => T) => void }} Resource
 */

/**
 * The resource at a path (null: none), and the error of the last attempt to read it; both are there where what was read
 * before is out of date.
 * @param {string | null} path
 * @returns {Resource<any>}
 */
export function useResource(path) {
  const [state, setState] = useState({ path, data: /** @type {any} */ (null), error: /** @type {Error | null} */ (null) });
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (path === null) return undefined;
    const controller = new AbortController();
    const keep = (/** @type {any} */ found) => {
      if (!controller.signal.aborted) setState((last) => ({ ...(last.path === path ? last : { data: null }), path, ...found }));
    };
    get(path, controller.signal).then((data) => keep({ data, error: null }), (error) => keep({ error }));
    return () => controller.abort();
  }, [path, round]);
  const reload = useCallback(() => setRound((last) => last + 1), []);
  useEffect(() => {
    addEventListener("online", reload);
    return () => removeEventListener("online", reload);
  }, []);
  const set = useCallback(
    (/** @type {(data: any) => any} */ change) =>
      setState((last) => (last.data === null ? last : { ...last, data: change(last.data) })),
    [],
  );
  const isCurrent = state.path === path;
  return { data: isCurrent ? state.data : null, error: isCurrent ? state.error : null, reload, set };
}

/**
 * Follow a stream of events (null: none). A browser reconnects by itself and continues after the last event; `onEnd` is
 * called where the service has ended the stream. A hidden page has no stream, since a browser has few connections to a
 * host for all its tabs; shown again, it follows the stream from its beginning.
 * @param {string | null} path
 * @param {string[]} kinds
 * @param {(event: any) => void} onEvent
 * @param {() => void} [onEnd]
 */
export function useEvents(path, kinds, onEvent, onEnd = () => {}) {
  const handlers = useRef({ onEvent, onEnd });
  handlers.current = { onEvent, onEnd };
  useEffect(() => {
    if (path === null) return undefined;
    const received = (/** @type {MessageEvent} */ event) => handlers.current.onEvent(JSON.parse(event.data));
    let source = /** @type {EventSource | null} */ (null);
    const open = () => {
      const opened = new EventSource(ROOT + path.replace(/^\//, ""));
      for (const kind of kinds) opened.addEventListener(kind, received);
      opened.onerror = () => opened.readyState === EventSource.CLOSED && source === opened && handlers.current.onEnd();
      source = opened;
    };
    const close = () => {
      source?.close();
      source = null;
    };
    const changed = () => (document.hidden ? close() : source === null && open());
    changed();
    document.addEventListener("visibilitychange", changed);
    return () => {
      document.removeEventListener("visibilitychange", changed);
      close();
    };
  }, [path]);
}

/**
 * An action that a user starts: whether it runs, the problem of its last run, and the function that starts it.
 * @template {any[]} A
 * @param {(...given: A) => Promise<unknown>} act
 * @returns {{ isBusy: boolean, problem: Problem | null, start: (...given: A) => Promise<void>, clear: () => void }}
 */
export function useAction(act) {
  const [state, setState] = useState({ isBusy: false, problem: /** @type {Problem | null} */ (null) });
  const start = async (/** @type {A} */ ...given) => {
    setState({ isBusy: true, problem: null });
    try {
      await act(...given);
      setState({ isBusy: false, problem: null });
    } catch (error) {
      const problem = error instanceof Problem ? error : new Problem({ title: String(error), status: -1 });
      setState({ isBusy: false, problem });
    }
  };
  return { ...state, start, clear: () => setState({ isBusy: false, problem: null }) };
}

/** The time in milliseconds, renewed each second while `isRunning`. @param {boolean} isRunning */
export function useClock(isRunning) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isRunning]);
  return now;
}
