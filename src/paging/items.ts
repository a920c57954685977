import { beginStackInAwaiter } from "../errors/caller-stack.ts";
import type { Page } from "../models.ts";
import type { Closeable } from "./closeable.ts";

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
    // Nothing more is chained to a promise than is needed: platforms name who awaits it if nobody else does.
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
