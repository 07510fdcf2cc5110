/** The part of Preact that the page uses. */

export interface VNode {
  key: unknown;
}

export interface Context<T> {
  Provider: (props: { value: T; children?: unknown }) => VNode;
  initial: T;
}

export function h(type: unknown, props: unknown, ...children: unknown[]): VNode;
export function render(node: VNode, parent: Element): void;
export function createContext<T>(initial: T): Context<T>;
