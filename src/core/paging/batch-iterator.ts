import { ignoreRejection } from "../checks/values.ts";
import type { CallerStack } from "../errors/caller-stack.ts";
import { Deadline } from "../time/deadline.ts";
import { type Walk, walkOf } from "./async-iterator.ts";

/**
 * An iterator over values that a generator has in batches, such as the items of pages. Its `return()` resolves at once:
 * a generator would first finish the `next()` that is pending, and a request or a wait may be pending for long, so
 * `return()` ends the deadline that all of them are within. Calls of `next()` are answered in order, as by any generator.
 * A value of a batch that is there is handed out at once: to pass each value through a generator adds half to the time of a
 * walk. No value is awaited, whatever its class: a generator awaits what it yields, so it yields whole results.
 */
export function batchIterator<Batch, Value>(
  generate: (closing: Deadline) => AsyncGenerator<Batch, void, undefined>,
  valuesOf: (batch: Batch) => readonly Value[],
  toCaller: CallerStack,
): Walk<Value> {
  const closing = Deadline.of(Number.POSITIVE_INFINITY);
  /** The rest of the latest batch. */
  let values: IterableIterator<Value> = [].values();
  /** The number of calls of `next()` that the generator has to answer. */
  let waiting = 0;
  async function* take(): AsyncGenerator<IteratorYieldResult<Value>, void, undefined> {
    try {
      for await (const batch of generate(closing)) {
        if (closing.reason !== undefined) return;
        values = valuesOf(batch).values();
        for (const value of values) {
          waiting -= 1;
          yield { done: false, value };
        }
      }
    } catch (error) {
      if (closing.reason !== undefined) return;
      toCaller(error);
      throw error;
    }
  }
  const taken = take();
  const end = (): void => {
    closing.end();
    values = [].values();
    ignoreRejection(taken.return());
  };
  const walk: Walk<Value> = walkOf<Value>({
    [Symbol.asyncIterator]: () => walk,
    next: () => {
      const value = waiting === 0 ? values.next() : undefined;
      if (value?.done === false) return Promise.resolve(value);
      waiting += 1;
      return taken.next().then((step) => (step.done === true ? step : step.value));
    },
    return: () => {
      end();
      return Promise.resolve({ done: true, value: undefined });
    },
    throw: (error) => {
      end();
      return Promise.reject(error);
    },
  });
  return walk;
}
