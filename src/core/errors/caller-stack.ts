import { ignoreErrors } from "../checks/ignore-errors.ts";
import { isPromise } from "../checks/values.ts";
import { isBrandedError } from "./automation-error.ts";

/** Lets the stack of an error of ours begin in the code that called a public function, and not inside this library. */
export type CallerStack = (error: unknown) => void;

/** V8 has it. Where a platform has none, stacks stay as they are. */
const platform = Error as { captureStackTrace?: (target: object, entry: unknown) => void };

/** Takes the stack of the call of `entry`, a public function. Call it while `entry` runs, before anything is awaited. */
export function captureCaller(entry: CallableFunction | NewableFunction): CallerStack {
  const site: { readonly stack?: unknown } = {};
  platform.captureStackTrace?.(site, entry);
  return (error) => {
    if (!isBrandedError(error)) return;
    // `Error.prepareStackTrace` of the application may return anything, or throw.
    const shown = ignoreErrors(() => site.stack);
    const stack = typeof shown === "string" ? shown : "";
    const frames = stack.indexOf("\n    at ");
    if (frames < 0 || Object.isFrozen(error)) return;
    const value = `${error.name}: ${error.message}${stack.slice(frames)}`;
    Object.defineProperty(error, "stack", { value, configurable: true, writable: true });
  };
}

/**
 * Runs the work of `entry`, a public function: the stack of an error of ours, thrown or rejected with, begins in the code
 * that called it.
 */
export function withCallerStack<Result>(entry: CallableFunction | NewableFunction, work: () => Result): Result {
  const caller = captureCaller(entry);
  const rethrow = (error: unknown): never => {
    caller(error);
    throw error;
  };
  try {
    const result = work();
    return isPromise(result) ? (result.then(undefined, rethrow) as Result) : result; // of the same type: it resolves as before
  } catch (error) {
    return rethrow(error);
  }
}
