import { type ApiPromise, apiPromise, type Success } from "../call/api-promise.ts";
import { countFrom, parseOptions, type Shape } from "../checks/validators.ts";
import { type CallerStack, captureCaller, withCallerStack } from "../errors/caller-stack.ts";
import { ArgumentError } from "../errors/classes.ts";
import type { Page } from "./page.ts";
import { batchIterator, lazyWalk, type PageSource, type Walk, walkPages } from "./walk.ts";

/** The options of `toArray`. */
export interface ToArrayOptions {
  /**
   * The most items. No request is sent past the one that fills it.
   *
   * @default all
   */
  max?: number | undefined;
}

const TO_ARRAY_OPTIONS = { max: countFrom(0) } satisfies Shape<ToArrayOptions>;

const CONSUME = "use for await, .page() or .toArray()";
const PRINT = `Paginator { not sent yet: ${CONSUME} }`;

// Typed as symbols only, so that the compiler does not take a list for an iterable.
const INSPECT: unique symbol = Symbol.for("nodejs.util.inspect.custom");
const ITERATOR: unique symbol = Symbol.iterator as never; // so named, no compiler takes lists for iterables

/**
 * A list that is requested page by page as it is consumed; nothing is sent before. Each `for await` is an iteration of its own
 * from the start. An iteration ends only where the service says so (`next_cursor` is `null`), and an error in it carries the
 * `cursor` of the page that failed: a new list from there yields exactly the rest. A paginator is not a promise.
 *
 * @example
 * for await (const project of client.projects.list()) console.log(project.name);
 */
export class Paginator<Item> implements AsyncIterable<Item> {
  readonly #source: () => Promise<PageSource<Item>>;

  /** @internal The client's lists return paginators. */
  constructor(source: () => Promise<PageSource<Item>>) {
    this.#source = source;
  }

  /** Prints, as text, as JSON and in Node's console, say that nothing was sent and how to consume the list. */
  toString(): string {
    return PRINT;
  }

  /** @internal */
  toJSON(): string {
    return PRINT;
  }

  /** @internal */
  [INSPECT](): string {
    return PRINT;
  }

  /** @internal Refuses `for (of)` and spreading, in words. */
  [ITERATOR](): never {
    return withCallerStack(Paginator.prototype[ITERATOR], () => {
      throw new ArgumentError(`a list is not sent before it is consumed: ${CONSUME}`);
    });
  }

  /**
   * Walks the items. `break` and `return()` send nothing more and cancel the request in flight. Calls of `next()` may
   * overlap: they resolve to consecutive items, with one request per page.
   */
  [Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    return iterate(this.#source, ({ data: page }) => page.data, captureCaller(this[Symbol.asyncIterator]));
  }

  /**
   * Walks the pages as the service sends them. The `next_cursor` of a page resumes the list after it. Each `for await`
   * starts afresh; after a call of `next()` it goes on from there.
   *
   * @example
   * for await (const page of client.projects.list().pages()) console.log(page.data.length, page.next_cursor);
   */
  pages(): AsyncGenerator<Page<Item>, void, undefined> {
    const toCaller = captureCaller(this.pages);
    return lazyWalk(() => iterate(this.#source, ({ data: page }) => [page], toCaller));
  }

  /**
   * Requests one page: the first one, or the one at `cursor`. One request (and its retries), whatever `prefetch` says;
   * the `signal` of the list's options cancels it. Made for programs that keep the cursor themselves, such as infinite
   * queries and proxying backends.
   *
   * @returns the page as the service sent it; its `next_cursor` is the `cursor` of the next one, `null` after the last
   * @throws every error of a call, with `cursor`: the cursor that was asked for, `null` for the first page
   * @example
   * const page = await client.projects.list({ limit: 50 }).page();
   * console.log(page.data, page.next_cursor);
   * @example With TanStack Query, whose own retries are switched off, since the client retries:
   * const projects = {
   *   queryKey: ["projects"],
   *   queryFn: ({ pageParam, signal }: { pageParam: string | undefined; signal: AbortSignal }) =>
   *     client.projects.list({ cursor: pageParam }, { signal }).page(),
   *   initialPageParam: undefined,
   *   getNextPageParam: (page: { next_cursor: string | null }) => page.next_cursor,
   *   retry: false,
   * };
   */
  page(): ApiPromise<Page<Item>> {
    return apiPromise(this.page, async () => {
      const { value } = await walkPages(this.#source, { max: 0 }).next();
      return value as Success<Page<Item>>; // every walk has a first page
    });
  }

  /**
   * All items, or the first `max` of them. Nothing is returned if a page fails.
   *
   * @throws every error of an iteration; `ArgumentError` for invalid options
   * @example
   * const firstHundred = await client.projects.list({ limit: 50 }).toArray({ max: 100 });
   */
  toArray(options?: ToArrayOptions): Promise<Item[]> {
    return withCallerStack(this.toArray, async () => {
      const { fetch } = globalThis;
      const { parse } = await this.#source();
      const { max = Number.POSITIVE_INFINITY } = parse("toArray", () =>
        parseOptions(options, "options", TO_ARRAY_OPTIONS),
      );
      const items: Item[] = [];
      if (max === 0) return items;
      for await (const { data: page } of walkPages(this.#source, { max, fetch })) {
        // Not by `push(...data)`: a page may have more items than a call may have arguments.
        for (const item of page.data) items.push(item);
      }
      items.splice(max);
      return items;
    });
  }
}

function iterate<Item, Value>(
  describe: () => Promise<PageSource<Item>>,
  valuesOf: (fetched: Success<Page<Item>>) => readonly Value[],
  toCaller: CallerStack,
): Walk<Value> {
  return batchIterator((closing) => walkPages(describe, { closing }), valuesOf, toCaller);
}
