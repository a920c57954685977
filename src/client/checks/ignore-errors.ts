import { isPromise } from "./values.ts";

/** Runs what may throw, such as a caller's callback: what it throws or rejects with goes nowhere, and nothing waits for it. */
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
