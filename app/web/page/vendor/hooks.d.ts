/** The hooks of Preact that the page uses. */

import type { Context } from "./preact.js";

export function useState<S>(initial: S | (() => S)): [S, (next: S | ((last: S) => S)) => void];
export function useEffect(effect: () => void | (() => void), inputs?: readonly unknown[]): void;
export function useRef<T>(initial: T): { current: T };
export function useMemo<T>(make: () => T, inputs: readonly unknown[]): T;
export function useCallback<F extends (...given: never[]) => unknown>(callback: F, inputs: readonly unknown[]): F;
export function useContext<T>(context: Context<T>): T;
