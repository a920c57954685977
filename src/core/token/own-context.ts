import { ignoreErrors } from "../checks/ignore-errors.ts";

/** Runs work in the context in which the runner was made. */
export type RunInContext = <Result>(work: () => Result) => Result;

/** The part of a platform that knows contexts. */
interface Contexts {
  readonly process?: {
    getBuiltinModule?(name: "async_hooks"): { readonly AsyncLocalStorage: { snapshot(): RunInContext } };
  };
}

/**
 * Keeps the present `AsyncLocalStorage` context for work that is shared: what it stores must not belong to the transaction of
 * the call that happened to begin it. A platform without contexts runs the work as it is, and so does a Worker, which keeps
 * the context of one request from the others.
 */
export function keepContext(): RunInContext {
  const { process: platform } = globalThis as Contexts;
  const snapshot = ignoreErrors(() => platform?.getBuiltinModule?.("async_hooks").AsyncLocalStorage.snapshot());
  const isOpen = (): boolean | undefined => ignoreErrors(() => snapshot?.(() => true));
  return (work) => (snapshot !== undefined && isOpen() ? snapshot(work) : work());
}
