import { ignoreErrors } from "../checks/ignore-errors.ts";
import { isBrandedError } from "./automation-error.ts";

/**
 * Lets the stack of an error of ours begin in the code that called `entry`, or awaits it, and not inside this library.
 * Call it while `entry` runs. Where the platform does not name that code, the stack stays as it is.
 */
function beginStackInCaller(error: unknown, entry: CallableFunction | NewableFunction): void {
  // `Error.prepareStackTrace` of the application may return anything, or throw; an error that comes back may be frozen.
  ignoreErrors(() => {
    const platform = Error as { captureStackTrace?: (target: object, entry: unknown) => void }; // V8 has it, and follows `await`
    const site: { readonly stack?: unknown } = {};
    platform.captureStackTrace?.(site, entry);
    const stack = typeof site.stack === "string" ? site.stack : "";
    const frames = stack.indexOf("\n    at ");
    if (frames < 0 || !isBrandedError(error)) return;
    const value = `${error.name}: ${error.message}${stack.slice(frames)}`;
    Object.defineProperty(error, "stack", { value, configurable: true, writable: true });
  });
}

/** Runs the work of `entry`, a public function: the stack of an error of ours begins in the code that called it. */
export function calledBy<Result>(entry: CallableFunction | NewableFunction, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    beginStackInCaller(error, entry);
    throw error;
  }
}

/** As `beginStackInCaller`, in an async function that awaits it and then throws the error. */
export async function beginStackInAwaiter(error: unknown, entry: CallableFunction | NewableFunction): Promise<void> {
  // A function that fails at once is not awaited yet, and one more turn passes where another function returns its promise.
  await Promise.resolve();
  await Promise.resolve();
  beginStackInCaller(error, entry);
}

/** Runs the work of a public async function: the stack of an error of ours begins in the code that awaits it. */
export async function awaited<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    await beginStackInAwaiter(error, awaited);
    throw error;
  }
}
