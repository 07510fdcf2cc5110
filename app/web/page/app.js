/** The frame of all views: navigation, session, and the view of the current address. */

import { useEffect, useRef, useState } from "./vendor/hooks.js";
import { Problem, request, UNAUTHENTICATED } from "./api.js";
import { html } from "./html.js";
import { Later } from "./parts/later.js";
import { Mark } from "./parts/mark.js";
import { Failure, Loading } from "./parts/states.js";
import { ThemeSwitch } from "./parts/theme.js";
import { goTo, link, useRoute } from "./router.js";
import { Login, NeedsKey, permits, Scopes } from "./session.js";
import { Datasets } from "./views/datasets.js";
import { DatasetView } from "./views/dataset.js";
import { Home } from "./views/home.js";
import { JobView } from "./views/job.js";
import { Jobs } from "./views/jobs.js";
import { ModelView } from "./views/model.js";
import { Models } from "./views/models.js";
import { Train } from "./views/train.js";

/** @typedef {{ owner: string, scopes: string[], expires_at: string | null, subject: string }} Session */

/** The view of a version, whose figures most visits of other views don't need. */
const versionView = async () => (await import("./views/version.js")).VersionView;
const batch = async () => (await import("./views/batch.js")).Batch;
const compare = async () => (await import("./views/compare.js")).Compare;
const evaluate = async () => (await import("./views/evaluate.js")).Evaluate;
const promote = async () => (await import("./views/promote.js")).Promote;
const members = async () => (await import("./views/members.js")).Members;
const projectSwitch = async () => (await import("./parts/project-switch.js")).ProjectSwitch;

/** The view of an address, and the section of the navigation that it belongs to. @param {import("./router.js").Route} route */
function viewOf({ parts, query }) {
  const [first, second, third, fourth, fifth] = parts;
  switch (`${first ?? ""}/${parts.length}`) {
    case "/0": return { title: "Home", section: "", view: html`<${Home} />` };
    case "datasets/1": return { title: "Datasets", section: first, view: html`<${Datasets} query=${query} />` };
    case "datasets/2": return { title: "Dataset", section: first, view: html`<${DatasetView} key=${second} id=${second} />` };
    case "train/2": return { title: "Train", section: "datasets", view: html`<${Train} key=${second} id=${second} query=${query} />` };
    case "jobs/1": return { title: "Jobs", section: first, view: html`<${Jobs} query=${query} />` };
    case "jobs/3": return { title: "Job", section: first, view: html`<${JobView} key=${third} kind=${second} id=${third} />` };
    case "models/1": return { title: "Models", section: first, view: html`<${Models} query=${query} />` };
    case "models/2": return { title: second, section: first, view: html`<${ModelView} key=${second} name=${second} query=${query} />` };
    case "models/3":
      if (third !== "compare") break;
      return { title: `Compare versions of ${second}`, section: first, view: html`<${Later} key=${`${second}/compare`} what="the comparison" load=${compare} name=${second} query=${query} />` };
    case "models/4":
      if (third !== "versions") break;
      return {
        title: `${second}, version ${fourth}`,
        section: first,
        view: html`<${Later} key=${`${second}/${fourth}`} what="the version" load=${versionView} name=${second} number=${fourth} query=${query} />`,
      };
    case "models/5": {
      const load = third === "versions" && { evaluate, promote }[fifth];
      if (!load) break;
      return { title: `${fifth === "promote" ? "Promote" : "Evaluate"} ${second}, version ${fourth}`, section: first, view: html`<${Later} key=${`${parts.join("/")}?${query}`} what="the form" load=${load} name=${second} number=${fourth} query=${query} />` };
    }
    case "members/1": return { title: "Members", section: "-", view: html`<${Later} key="members" what="members" load=${members} />` };
    case "batch/1": return { title: "Predict a dataset", section: first, view: html`<${Later} key=${`batch?${query}`} what="the form" load=${batch} query=${query} />` };
  }
  return { title: "Not found", section: "-", view: html`<${NotFound} />` };
}

function NotFound() {
  return html`<h1>Not found</h1><p>The page has no view at this address. <a href=${link([])}>Go home</a></p>`;
}

/** In place of all views, which read. @param {{ scopes: string[] }} props */
function Unreadable({ scopes }) {
  return html`<h1>This key can't read</h1>
    <p>The page needs a key with the scope read. This one has ${scopes.join(" and ")}, which is enough for programs that only send requests.</p>`;
}

export function App() {
  const [session, setSession] = useState(/** @type {Session | null | undefined} */ (undefined));
  const [problem, setProblem] = useState(/** @type {Problem | null} */ (null));
  const load = () => {
    setProblem(null);
    request("GET", "v1/session").then(setSession, (error) => (error.status === 401 ? setSession(null) : setProblem(error)));
  };
  useEffect(() => {
    const loggedOut = () => setSession(null);
    addEventListener(UNAUTHENTICATED, loggedOut);
    load();
    return () => removeEventListener(UNAUTHENTICATED, loggedOut);
  }, []);
  if (problem) return html`<${Header} section="-" /><main id="main"><h1>Relevance</h1><${Failure} problem=${problem} retry=${load} /></main>`;
  if (session === undefined) return html`<${Header} section="-" /><main id="main"><h1 class="hidden">Relevance</h1><${Loading} what="the session" /></main>`;
  if (session === null) return html`<${Header} section="-" /><${Login} onDone=${load} />`;
  const needsKey = session.expires_at !== null;
  return html`<${NeedsKey.Provider} value=${needsKey}><${Scopes.Provider} value=${session.scopes}>
    <${Frame} key=${session.owner} session=${session} needsKey=${needsKey} onSwitched=${() => (goTo(link([])), load())} />
  <//><//>`;
}

/** @param {{ session: Session, needsKey: boolean, onSwitched: () => void }} props */
function Frame({ session, needsKey, onSwitched }) {
  const { title, section, view } = viewOf(useRoute());
  const main = useRef(/** @type {HTMLElement | null} */ (null));
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = section === "" ? "Relevance" : `${title} – Relevance`;
    if (!isFirst.current) {
      main.current?.focus();
      scrollTo(0, 0);
    }
    isFirst.current = false;
  }, [title]);
  const logout = () => request("DELETE", "v1/session").finally(() => location.reload());
  return html`
    <a class="skip" href="#main" onClick=${(/** @type {Event} */ event) => (event.preventDefault(), main.current?.focus())}>Skip to the content</a>
    <${Header} section=${section}>
      ${needsKey && html`<${Later} what="projects" load=${projectSwitch} owner=${session.owner} onSwitched=${onSwitched} />
        <button type="button" class="plain" onClick=${logout}>Log out</button>`}
    <//>
    <${Connection} />
    <main id="main" tabindex="-1" ref=${main}>${permits(session.scopes, "read") ? view : html`<${Unreadable} scopes=${session.scopes} />`}</main>
  `;
}

const SECTIONS = { "": "Home", datasets: "Datasets", models: "Models", batch: "Batch", jobs: "Jobs" };

/** @param {{ section: string, children?: unknown }} props */
function Header({ section, children }) {
  const items = Object.entries(SECTIONS).map(([path, name]) => html`<li>
    <a href=${link(path ? [path] : [])} aria-current=${path === section ? "page" : undefined}>${name}</a>
  </li>`);
  return html`<header>
    <a class="mark" href=${link([])}><${Mark} />Relevance</a>
    <nav aria-label="Main"><ul>${items}</ul></nav>
    <div class="tools">${children}<${ThemeSwitch} /></div>
  </header>`;
}

/** A line where the browser is offline: what is shown may be out of date. */
function Connection() {
  const [isOnline, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const changed = () => setOnline(navigator.onLine);
    addEventListener("online", changed);
    addEventListener("offline", changed);
    return () => {
      removeEventListener("online", changed);
      removeEventListener("offline", changed);
    };
  }, []);
  return html`<div role="status">${isOnline ? "" : html`<p class="offline">You are offline. What is shown may be out of date.</p>`}</div>`;
}
