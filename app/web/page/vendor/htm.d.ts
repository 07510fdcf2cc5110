/** Templates of elements. */

import type { VNode } from "./preact.js";

type Template = (strings: TemplateStringsArray, ...values: unknown[]) => VNode;
declare const htm: { bind(h: (...given: never[]) => VNode): Template };
export default htm;
