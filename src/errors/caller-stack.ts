import { isBrandedError } from "./automation-error.ts";

/**
 * Lets the stack of an error of ours begin in the code that called `entry`, or awaits it, and not inside this library.
 * Returns the error. Call it while `entry` runs. Where the platform does not name that code, the stack stays as it is.
 */
export function beginStackInCaller<Thrown>(error: Thrown, entry: CallableFunction | NewableFunction): Thrown {
  const platform = Error as { captureStackTrace?: (target: object, entry: unknown) => void }; // V8 has it, and follows `await`
  const own = Object.getOwnPropertyDescriptor(error, "stack");
  if (platform.captureStackTrace === undefined || own === undefined || !isBrandedError(error)) return error;
  const site: { readonly stack?: unknown } = {};
  platform.captureStackTrace(site, entry);
  const set = (value: unknown): boolean =>
    Reflect.defineProperty(error, "stack", { value, configurable: true, writable: true });
  const get = (): unknown => {
    // `Error.prepareStackTrace` of the application may return anything.
    const stack = typeof site.stack === "string" ? site.stack : "";
    const frames = stack.indexOf("\n    at ");
    if (frames < 0) Reflect.defineProperty(error, "stack", own);
    else set(`${error.name}: ${error.message}${stack.slice(frames)}`);
    return error.stack;
  };
  // A stack is written when it is first read, which most never are.
  Reflect.defineProperty(error, "stack", { get, set: (value) => void set(value), configurable: true });
  return error;
}

/** As `beginStackInCaller`, in an async function: `throw await beginStackInAwaiter(error, entry)`. */
export async function beginStackInAwaiter<Thrown>(
  error: Thrown,
  entry: CallableFunction | NewableFunction,
): Promise<Thrown> {
  // What failed at once has no caller that awaits it yet, nor after a turn if its promise was returned by another function.
  await Promise.resolve();
  await Promise.resolve();
  return beginStackInCaller(error, entry);
}
