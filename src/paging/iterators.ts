import type { Page } from "../models.ts";
import { type PageSource, Walk } from "./walk.ts";

/** What both iterators are: calls of `next` are answered in order, each after the one before. */
abstract class WalkIterator<Item, Value> implements AsyncIterableIterator<Value> {
  readonly #source: () => PageSource<Item>;
  #walk: Walk<Item> | undefined;
  #latest: Promise<unknown> | undefined;
  /** Calls of `next` that have not been answered. */
  #pending = 0;
  #closed = false;

  constructor(source: () => PageSource<Item>) {
    this.#source = source;
  }

  /** What has been fetched already. */
  protected abstract buffered(): IteratorResult<Value> | undefined;

  /** Takes a page in. */
  protected abstract take(page: Page<Item>): void;

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Value>> {
    const ready = this.#latest === undefined && !this.#closed ? this.buffered() : undefined;
    if (ready !== undefined) return Promise.resolve(ready);
    this.#pending += 1;
    const latest = this.#advance(this.#latest);
    this.#latest = latest;
    return latest;
  }

  return(): Promise<IteratorResult<Value>> {
    this.#closed = true;
    this.#walk?.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  async #advance(before: Promise<unknown> | undefined): Promise<IteratorResult<Value>> {
    await before?.catch(() => {});
    try {
      for (;;) {
        const ready = this.#closed ? undefined : this.buffered();
        if (ready !== undefined) return ready;
        const page = this.#closed ? undefined : await this.#nextPage();
        if (page === undefined) return { done: true, value: undefined };
        this.take(page);
      }
    } catch (error) {
      this.#closed = true;
      throw error;
    } finally {
      this.#pending -= 1;
      if (this.#pending === 0) this.#latest = undefined;
    }
  }

  #nextPage(): Promise<Page<Item> | undefined> {
    this.#walk ??= new Walk(this.#source());
    return this.#walk.next(Number.POSITIVE_INFINITY);
  }
}

/** Item by item; a page at a time is held. */
export class ItemIterator<Item> extends WalkIterator<Item, Item> {
  #items: readonly Item[] = [];
  #index = 0;

  protected buffered(): IteratorResult<Item> | undefined {
    if (this.#index >= this.#items.length) return undefined;
    const value = this.#items[this.#index] as Item; // the index is in range, and an item may itself be undefined
    this.#index += 1;
    return { done: false, value };
  }

  protected take(page: Page<Item>): void {
    this.#items = page.data;
    this.#index = 0;
  }
}

/** Page by page. */
export class PageIterator<Item> extends WalkIterator<Item, Page<Item>> {
  #page: Page<Item> | undefined;

  protected buffered(): IteratorResult<Page<Item>> | undefined {
    const value = this.#page;
    this.#page = undefined;
    return value === undefined ? undefined : { done: false, value };
  }

  protected take(page: Page<Item>): void {
    this.#page = page;
  }
}
