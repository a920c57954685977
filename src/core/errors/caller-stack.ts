import { ignoreErrors } from "../checks/ignore-errors.ts";
import { isPromise } from "../checks/values.ts";
import { isBrandedError } from "./automation-error.ts";

/** Lets the stack of an error of ours begin in the code that called a public function, and not inside this library. */
export type CallerStack = (error: unknown) => void;

/** V8 has it. Where a platform has none, stacks stay as they are. */
const platform = Error as { captureStackTrace?: (target: object, entry: unknown) => void };

/**
 * Takes the stack of the call of `entry`, a public function. Call it while `entry` runs, before anything is awaited.
 *
 * @param helper the function that `entry` ends with a call of: Bun has left `entry` then, and finds no frame of it
 */
export function captureCaller(
  entry: CallableFunction | NewableFunction,
  helper: CallableFunction | NewableFunction = entry,
): CallerStack {
  const site: Site = {};
  platform.captureStackTrace?.(site, entry);
  if ("Bun" in globalThis && framesOf(site) === "") platform.captureStackTrace?.(site, helper);
  return (error) => {
    if (!isBrandedError(error) || Object.isFrozen(error)) return;
    const frames = framesOf(site);
    if (frames === "") return;
    const value = `${error.name}: ${error.message}${frames}`;
    Object.defineProperty(error, "stack", { value, configurable: true, writable: true });
  };
}

interface Site {
  readonly stack?: unknown;
}

function framesOf(site: Site): string {
  // `Error.prepareStackTrace` of the application may return anything, or throw.
  return ignoreErrors(() => /\n {4}at .*/s.exec(String(site.stack))?.[0]) ?? "";
}

/**
 * Runs the work of `entry`, a public function: the stack of an error of ours, thrown or rejected with, begins in the code
 * that called it.
 */
export function withCallerStack<Result>(entry: CallableFunction | NewableFunction, work: () => Result): Result {
  const caller = captureCaller(entry, withCallerStack);
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
