import { h } from "./vendor/preact.js";
import htm from "./vendor/htm.js";

/** Templates of elements: texts in them are texts of the document, and never markup. */
export const html = htm.bind(h);
