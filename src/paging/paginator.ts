import { countFrom, given, refuseSurplus, refusing, type Shape } from "../base/check.ts";
import { beginStackInAwaiter } from "../errors/caller-stack.ts";
import { ArgumentError } from "../errors/classes.ts";
import type { Page } from "../models.ts";
import { type Closeable, closeable, Items } from "./iterators.ts";
import { fetchPage, type PageSource, walkPages } from "./walk.ts";

/** The options of `toArray`. */
export interface ToArrayOptions {
  /**
   * At most so many items. No request is sent past the one that fills it.
   *
   * @default all
   */
  max?: number | undefined;
}

const TO_ARRAY_OPTIONS: Shape<ToArrayOptions> = { max: countFrom(0) };

/**
 * A list that is requested page by page as it is consumed; nothing is sent before. Each `for await` is a walk of its own
 * from the start. A walk ends only where the service says so (`next_cursor` is `null`), and an error in it carries the
 * `cursor` of the page that failed: a new list from there yields exactly the rest. A paginator is not a promise.
 *
 * @example
 * for await (const project of client.projects.list()) console.log(project.name);
 */
export class Paginator<Item> implements AsyncIterable<Item> {
  readonly #source: () => PageSource<Item>;

  /** Not for callers: the client's lists return paginators. */
  constructor(source: () => PageSource<Item>) {
    this.#source = source;
  }

  /**
   * Walks the items. `break` and `return()` send nothing more and cancel the request in flight. Calls of `next()` may
   * overlap: they resolve to consecutive items, with one request per page.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<Item> {
    return new Items(closeable((closing) => walkPages(this.#source, { closing })));
  }

  /**
   * Walks the pages as the service sends them. The `next_cursor` of a page resumes the list after it. Each `for await`
   * starts afresh; after a call of `next()` it goes on from there.
   *
   * @example
   * for await (const page of client.projects.list().pages()) console.log(page.data.length, page.next_cursor);
   */
  pages(): AsyncIterableIterator<Page<Item>>;
  pages(...surplus: readonly unknown[]): AsyncIterableIterator<Page<Item>> {
    const source = withoutArguments("pages", surplus, this.#source);
    const start = (): Closeable<Page<Item>> => closeable((closing) => walkPages(source, { closing }));
    let begun: Closeable<Page<Item>> | undefined;
    const begin = (): Closeable<Page<Item>> => (begun ??= start());
    return {
      [Symbol.asyncIterator]: () => begun ?? start(),
      next: () => begin().next(),
      return: () => begin().return(),
    };
  }

  /**
   * Requests one page: the first one, or the one at `cursor`. One request (and its retries), whatever `prefetch` says;
   * the `signal` of the list's options cancels it. Made for callers that keep the cursor themselves, such as infinite
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
  page(): Promise<Page<Item>>;
  async page(...surplus: readonly unknown[]): Promise<Page<Item>> {
    return onePage(withoutArguments("page", surplus, this.#source));
  }

  /**
   * All items, or the first `max` of them. Nothing is returned if a page fails.
   *
   * @throws every error of a walk; `ArgumentError` for invalid options
   * @example
   * const firstHundred = await client.projects.list({ limit: 50 }).toArray({ max: 100 });
   */
  toArray(options?: ToArrayOptions): Promise<Item[]>;
  async toArray(options?: ToArrayOptions, ...surplus: readonly unknown[]): Promise<Item[]> {
    return collect(this.#source, options, surplus);
  }
}

type Source<Item> = () => PageSource<Item>;

/** The source of a method that takes no arguments, which refuses those that were passed. */
function withoutArguments<Item>(method: string, surplus: readonly unknown[], describe: Source<Item>): Source<Item> {
  return () => {
    refusing(ArgumentError, () => refuseSurplus(surplus, `${method} takes no arguments: pass them to list()`));
    return describe();
  };
}

async function onePage<Item>(describe: Source<Item>): Promise<Page<Item>> {
  try {
    const source = describe();
    return await fetchPage(source, source.start);
  } catch (error) {
    throw await beginStackInAwaiter(error, onePage);
  }
}

async function collect<Item>(
  describe: Source<Item>,
  options: ToArrayOptions | undefined,
  surplus: readonly unknown[],
): Promise<Item[]> {
  try {
    const source = describe();
    const { max = Number.POSITIVE_INFINITY } = source.check("toArray", () => {
      refuseSurplus(surplus);
      return given(options, "options", TO_ARRAY_OPTIONS);
    });
    const items: Item[] = [];
    if (max === 0) return items;
    for await (const { data } of walkPages(() => source, { max })) {
      // Not by `push(...data)`: a page may have more items than a call may have arguments.
      for (const item of data) {
        items.push(item);
        if (items.length === max) return items;
      }
    }
    return items;
  } catch (error) {
    throw await beginStackInAwaiter(error, collect);
  }
}
