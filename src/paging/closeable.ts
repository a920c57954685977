import { ignoreErrors } from "../ignore-errors.ts";

/** The reason of a signal that was aborted by `return()`. */
const CLOSED: unique symbol = Symbol("closed");

/** An iterator that can be closed. */
export interface Closeable<Value> extends AsyncIterableIterator<Value> {
  return(): Promise<IteratorResult<Value>>;
}

/**
 * An iterator over the values of a generator, whose `return()` resolves at once. A generator would first finish the
 * `next()` that is pending, and a request or a wait may be pending for long: so `return()` aborts the controller, which
 * `generate` passes to everything that it waits for. `generate` ends without an error if `isClosed` tells that this was
 * the reason. Calls of `next()` are answered in order, as by any generator.
 */
export function closeable<Value>(
  generate: (closing: AbortController) => AsyncGenerator<Value, void, undefined>,
): Closeable<Value> {
  const closing = new AbortController();
  const values = generate(closing);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => values.next(),
    return: () => {
      closing.abort(CLOSED);
      ignoreErrors(() => values.return());
      return Promise.resolve({ done: true, value: undefined });
    },
  };
}

/** Whether the iterator was closed, and not aborted by the caller's signal. */
export function isClosed({ signal }: AbortController): boolean {
  return signal.reason === CLOSED;
}
