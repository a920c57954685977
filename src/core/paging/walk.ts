import type { Success } from "../call/api-promise.ts";
import type { Caller, Operation, Origin } from "../call/operation.ts";
import { ignoreRejection } from "../checks/values.ts";
import type { CallerStack } from "../errors/caller-stack.ts";
import { PaginationError } from "../errors/classes.ts";
import { platformTurn } from "../time/clock.ts";
import { Deadline } from "../time/deadline.ts";
import type { FetchFunction } from "../wire/http-request.ts";
import type { Page } from "./page.ts";

/** So many empty pages in a row end a walk: the list may have no end, and its consumer never gets to decide. */
const MAX_EMPTY_PAGES = 1_000;

export interface PageSource<Item> {
  readonly operation: Pick<Operation<unknown>, "label" | "method" | "path">;
  /** The cursor of the first page; `null` for the beginning. */
  readonly start: string | null;
  /** Asks for the next page while one is being consumed. */
  readonly prefetch: boolean;
  /** Checks the arguments of a method of the list, in the name of the method. */
  readonly parse: Caller["parse"];
  /** Asks for a page of a walk: one request. An error carries the `cursor`. */
  readonly fetch: (cursor: string | null, origin: Origin<Page<Item>>) => Promise<Success<Page<Item>>>;
}

interface WalkOptions {
  readonly closing?: Deadline;
  readonly max?: number;
  /** The global `fetch` for all its pages; without one, the one as it is when each page is asked for. */
  readonly fetch?: FetchFunction;
}

/**
 * The pages of a list in order, one request each; with `prefetch` one page at most is asked for ahead. `findSource` runs
 * at the first `next()`, which rejects as it does. The walk is over with the page that brings the last of `max` items.
 */
export async function* walkPages<Item>(
  findSource: () => Promise<PageSource<Item>>,
  { closing, max = Number.POSITIVE_INFINITY, fetch }: WalkOptions = {},
): AsyncGenerator<Success<Page<Item>>, void, undefined> {
  // The global `fetch` of the call of `next()`: nothing is awaited between it and here.
  let begun = fetch ?? globalThis.fetch;
  const source = await findSource();
  const seen = new Set<string | null>([source.start]);
  let counts = { pages: 0, items: 0, waitedMs: 0 };
  const countPage: Origin<Page<Item>>["progress"] = ({ data }, waitedMs) => {
    const { pages, items, waitedMs: before } = counts;
    counts = { pages: pages + 1, items: items + data.length, waitedMs: before + waitedMs };
    return { type: "page", ...counts };
  };
  let cursor = source.start;
  let emptyPages = 0;
  let ahead: ReturnType<typeof source.fetch> | undefined;
  for (;;) {
    const origin = { outer: closing, progress: countPage, fetch: begun };
    const fetched = await (ahead ?? source.fetch(cursor, origin));
    const page = fetched.data;
    ahead = undefined;
    cursor = page.next_cursor;
    emptyPages = page.data.length === 0 ? emptyPages + 1 : 0;
    const isLast = cursor === null || counts.items >= max;
    let problem: string | undefined;
    if (cursor !== null && seen.has(cursor)) problem = "a cursor of this walk again, so the list goes in circles";
    else if (emptyPages === MAX_EMPTY_PAGES) problem = `${emptyPages} empty pages in a row`;
    seen.add(cursor);
    if (source.prefetch && !isLast && problem === undefined) {
      // The connection that this page came on is free after a turn of the platform: without it there would be a second one.
      await platformTurn();
      ahead = source.fetch(cursor, origin);
      // The walk may never come to it.
      ahead.catch(() => {});
      // The consumer of this page may block the thread, so the request has to leave first.
      await platformTurn();
    }
    yield fetched;
    begun = fetch ?? globalThis.fetch;
    if (isLast) return;
    if (problem !== undefined) throw endlessError(source, cursor, problem);
  }
}

function endlessError({ operation }: PageSource<unknown>, cursor: string | null, problem: string): PaginationError {
  const { method, path } = operation;
  const details = { method, path: path.template, outcome: "accepted", cursor } as const;
  return new PaginationError(`${operation.label}: the service sent ${problem}`, details);
}

/** An iterator as a generator is one: with `return()`, and with what the platform gives all of them, such as `await using`. */
export type Walk<Value> = AsyncGenerator<Value, void, undefined>;

type Members<Value> = Pick<Walk<Value>, "next" | "return" | "throw" | typeof Symbol.asyncIterator>;

function walkOf<Value>(members: Members<Value>): Walk<Value> {
  // A global `AsyncIterator` is rare. Compiled for an older platform, a generator function has no prototype of its own kind.
  const { prototype = {} } = Object.getPrototypeOf(async function* () {}) as { prototype?: object };
  const parent = Object.getPrototypeOf(prototype) as object;
  return Object.assign(Object.create(parent) as Walk<Value>, members); // together they are one
}

/**
 * Makes an iterator that begins with its first `next()`, and is iterable: each `for await` before that is a walk of its own,
 * from the start; one after it goes on from there.
 */
export function lazyWalk<Value>(start: () => Walk<Value>): Walk<Value> {
  let begun: Walk<Value> | undefined;
  const begin = (): Walk<Value> => (begun ??= start());
  return walkOf({
    [Symbol.asyncIterator]: () => begun ?? start(),
    next: () => begin().next(),
    return: () => begin().return(),
    throw: (error) => begin().throw(error),
  });
}

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
