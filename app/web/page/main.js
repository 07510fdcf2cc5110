import { render } from "./vendor/preact.js";
import { App } from "./app.js";
import { html } from "./html.js";
import { applyTheme } from "./parts/theme.js";

applyTheme();
const root = document.getElementById("page");
if (root) render(html`<${App} />`, root);
