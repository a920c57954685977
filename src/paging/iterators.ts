import { ignoreErrors } from "../base/check.ts";
import { Deadline } from "../base/deadline.ts";
import { beginStackInAwaiter } from "../errors/caller-stack.ts";

/**
 * An iterator over values that come in batches, such as the items of pages. Its `return()` resolves at once: a generator
 * would first finish the `next()` that is pending, and a request or a wait may be pending for long, so `return()` ends
 * the deadline that `generate` has them within.
 * Calls of `next()` are answered in order. A value of a batch that is there is handed out at once: a generator would take
 * half as long for each as everything else in a walk.
 */
export class BatchIterator<Batch, Value> implements AsyncIterableIterator<Value> {
  readonly #closing: Deadline = Deadline.of(Number.POSITIVE_INFINITY);
  readonly #batches: AsyncGenerator<Batch, void, undefined>;
  readonly #valuesOf: (batch: Batch) => readonly Value[];
  /** What is left of the latest batch. */
  #values: Iterator<Value> = [].values();
  /** How many calls of `next()` wait for a batch, and the latest of them, behind which the next one waits. */
  #waiting = 0;
  #latest: Promise<unknown> = Promise.resolve();

  constructor(
    generate: (closing: Deadline) => AsyncGenerator<Batch, void, undefined>,
    valuesOf: (batch: Batch) => readonly Value[],
  ) {
    this.#batches = generate(this.#closing);
    this.#valuesOf = valuesOf;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Value>> {
    if (this.#waiting === 0) {
      const value = this.#values.next();
      if (value.done !== true) return Promise.resolve(value);
    }
    // One reaction per promise: the stack of an error then names the code that awaits it.
    const value = this.#waiting === 0 ? this.#take() : this.#latest.then(this.#take, this.#take);
    this.#waiting += 1;
    this.#latest = value;
    return value;
  }

  return(): Promise<IteratorResult<Value>> {
    this.#closing.end();
    this.#values = [].values();
    void ignoreErrors(() => this.#batches.return());
    return Promise.resolve(DONE);
  }

  readonly #take = async (): Promise<IteratorResult<Value>> => {
    try {
      for (;;) {
        const value = this.#values.next();
        if (value.done !== true) return value;
        const batch = await this.#batches.next();
        if (batch.done === true || this.#closing.reason !== undefined) return DONE;
        this.#values = this.#valuesOf(batch.value).values();
      }
    } catch (error) {
      if (this.#closing.reason !== undefined) return DONE;
      throw await beginStackInAwaiter(error, this.#take);
    } finally {
      this.#waiting -= 1;
    }
  };
}

const DONE = { done: true, value: undefined } as const;
