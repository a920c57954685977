import { argument, countFrom, type Shape } from "../check.ts";
import type { Page } from "../models.ts";
import { ItemIterator, PageIterator } from "./iterators.ts";
import { type PageSource, Walk } from "./walk.ts";

/** How much `toArray` takes. */
export interface ToArrayOptions {
  /** At most so many items; no request is sent past the one that fills it. */
  max?: number | undefined;
}

const TO_ARRAY_OPTIONS: Shape<ToArrayOptions> = { max: countFrom(0) };

/**
 * A list, walked when it is consumed: nothing is sent before. Each `for await` is a walk of its own from the start; it
 * ends only where the service says so (`next_cursor` is `null`), and an error in it carries the `cursor` of the page
 * that failed, from which a new list goes on without loss or repetition. It is not a promise.
 *
 * @example
 * for await (const project of client.projects.list()) console.log(project.name);
 */
export class Paginator<Item> implements AsyncIterable<Item> {
  readonly #source: () => PageSource<Item>;

  /** Not for callers: lists are had from the client. */
  constructor(source: () => PageSource<Item>) {
    this.#source = source;
  }

  /** Walks the items. `break` and `return()` send nothing more and cancel what is under way. */
  [Symbol.asyncIterator](): AsyncIterableIterator<Item> {
    return new ItemIterator(this.#source);
  }

  /**
   * Walks the pages, as the service sends them. A page's `next_cursor` resumes the list after it. As with the list itself,
   * each `for await` starts afresh; only where `next()` was called before, it goes on from there.
   */
  pages(): AsyncIterableIterator<Page<Item>> {
    let begun: PageIterator<Item> | undefined;
    const start = (): PageIterator<Item> => new PageIterator(this.#source);
    const begin = (): PageIterator<Item> => {
      begun ??= start();
      return begun;
    };
    return {
      [Symbol.asyncIterator]: () => begun ?? start(),
      next: () => begin().next(),
      return: () => begin().return(),
    };
  }

  /** All items, or the first `max` of them. Rejects with what a walk rejects with, and then nothing is returned. */
  async toArray(options?: ToArrayOptions): Promise<Item[]> {
    const { max = Number.POSITIVE_INFINITY } = argument.guarded(() =>
      argument.options(options, "toArray: options", TO_ARRAY_OPTIONS),
    );
    const items: Item[] = [];
    if (max === 0) return items;
    const walk = new Walk(this.#source());
    for (;;) {
      const page = await walk.next(max - items.length);
      if (page === undefined) return items;
      for (const item of page.data) {
        items.push(item);
        if (items.length === max) return items;
      }
    }
  }
}
