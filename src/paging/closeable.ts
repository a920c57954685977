import { Deadline } from "../base/deadline.ts";
import { ignoreErrors } from "../ignore-errors.ts";

/** An iterator that can be closed. */
export interface Closeable<Value> extends AsyncIterableIterator<Value> {
  return(): Promise<IteratorResult<Value>>;
}

/**
 * An iterator over the values of a generator, whose `return()` resolves at once. A generator would first finish the
 * `next()` that is pending, and a request or a wait may be pending for long: so `return()` ends the deadline that all its
 * requests and waits are within. `generate` ends without an error once that has ended. Calls of `next()` are answered in
 * order, as by any generator.
 */
export function closeable<Value>(
  generate: (closing: Deadline) => AsyncGenerator<Value, void, undefined>,
): Closeable<Value> {
  const closing = Deadline.of(Number.POSITIVE_INFINITY);
  const values = generate(closing);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => values.next(),
    return: () => {
      closing.end();
      ignoreErrors(() => values.return());
      return Promise.resolve({ done: true, value: undefined });
    },
  };
}
