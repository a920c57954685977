import { isPromise } from "./values.ts";

/** Runs a function, such as a caller's callback, and ignores what it throws or rejects with. Nothing waits for it. */
export function ignoreErrors<Result>(callback: () => Result): Result | undefined {
  try {
    const result = callback();
    if (isPromise(result)) Promise.resolve(result).catch(() => {});
    return result;
  } catch {
    // A listener must not break the call it listens to.
    return undefined;
  }
}
