import { isPromise } from "./values.ts";

/**
 * Runs a function, such as a caller's callback, and ignores what it throws or rejects with, or hands it to `tell`. Nothing
 * waits for it.
 */
export function ignoreErrors<Result>(
  callback: () => Result,
  tell: (error: unknown) => void = () => {},
): Result | undefined {
  try {
    const result = callback();
    if (isPromise(result)) Promise.resolve(result).catch(tell);
    return result;
  } catch (error) {
    // A listener must not break the call it listens to.
    tell(error);
    return undefined;
  }
}
