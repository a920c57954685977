import { ignoreErrors } from "../base/check.ts";
import { Deadline } from "../base/deadline.ts";
import { beginStackInAwaiter } from "../errors/caller-stack.ts";
import type { Page } from "../models.ts";

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
      void ignoreErrors(() => values.return());
      return Promise.resolve({ done: true, value: undefined });
    },
  };
}

/**
 * The items of pages, one after another. An item of a page that is there is handed out at once: a generator would take
 * half as long for each as everything else in a walk.
 */
export class Items<Item> implements Closeable<Item> {
  readonly #pages: Closeable<Page<Item>>;
  /** What is left of the latest page. */
  #items: Iterator<Item> = [].values();
  /** How many calls of `next()` wait for a page, and the latest of them, behind which the next one waits. */
  #waiting = 0;
  #latest: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(pages: Closeable<Page<Item>>) {
    this.#pages = pages;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Item>> {
    if (this.#waiting === 0) {
      const item = this.#items.next();
      if (item.done !== true) return Promise.resolve(item);
    }
    // One reaction per promise: the stack of an error then names the code that awaits it.
    const item = this.#waiting === 0 ? this.#take() : this.#latest.then(this.#take, this.#take);
    this.#waiting += 1;
    this.#latest = item;
    return item;
  }

  return(): Promise<IteratorResult<Item>> {
    this.#isClosed = true;
    this.#items = [].values();
    return this.#pages.return().then(() => DONE);
  }

  readonly #take = async (): Promise<IteratorResult<Item>> => {
    try {
      for (;;) {
        const item = this.#items.next();
        if (item.done !== true) return item;
        const page = await this.#pages.next();
        if (page.done === true || this.#isClosed) return DONE;
        this.#items = page.value.data.values();
      }
    } catch (error) {
      throw await beginStackInAwaiter(error, this.#take);
    } finally {
      this.#waiting -= 1;
    }
  };
}

const DONE = { done: true, value: undefined } as const;
