import type { Success } from "../call/api-promise.ts";
import type { Caller, Operation, Origin } from "../call/operation.ts";
import { PaginationError } from "../errors/classes.ts";
import { platformTurn } from "../time/clock.ts";
import type { Deadline } from "../time/deadline.ts";
import type { FetchFunction } from "../wire/http-request.ts";
import type { Page } from "./page.ts";

/** So many empty pages in a row end a walk: the list may have no end, and its consumer never gets to decide. */
const MAX_EMPTY_PAGES = 1_000;

/** Where the pages of a list come from. */
export interface PageSource<Item> {
  /** The list in errors. */
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

/** Bounds of a walk. */
interface WalkOptions {
  /** Ends it early, with the request in flight. */
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
  const cycle = new CycleDetector();
  let counts = { pages: 0, items: 0, waitedMs: 0 };
  const countPage: Origin<Page<Item>>["progress"] = ({ data }, waitedMs) => {
    const { pages, items, waitedMs: before } = counts;
    counts = { pages: pages + 1, items: items + data.length, waitedMs: before + waitedMs };
    return { type: "page", ...counts };
  };
  let cursor = source.start;
  let emptyPages = 0;
  let ahead: ReturnType<typeof source.fetch> | undefined;
  if (cursor !== null) cycle.closes(cursor);
  for (;;) {
    const origin = { within: closing, progress: countPage, fetch: begun };
    const fetched = await (ahead ?? source.fetch(cursor, origin));
    const page = fetched.data;
    ahead = undefined;
    cursor = page.next_cursor;
    emptyPages = page.data.length === 0 ? emptyPages + 1 : 0;
    const isLast = cursor === null || counts.items >= max;
    let flaw: string | undefined;
    if (cursor !== null && cycle.closes(cursor)) flaw = "a cursor of this walk again, so the list goes in circles";
    else if (emptyPages === MAX_EMPTY_PAGES) flaw = `${emptyPages} empty pages in a row`;
    if (source.prefetch && !isLast && flaw === undefined) {
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
    if (flaw !== undefined) throw endlessError(source, cursor, flaw);
  }
}

function endlessError({ operation }: PageSource<unknown>, cursor: string | null, flaw: string): PaginationError {
  const { method, path } = operation;
  const details = { method, path: path.template, outcome: "accepted", cursor } as const;
  return new PaginationError(`${operation.label}: the service sent ${flaw}`, details);
}

/** Cycles of so many cursors or fewer are found at the first repeat. */
const RECENT = 8;

/** So many samples at most are spread evenly over the cursors before. */
const SAMPLES = 64;

/**
 * Finds out that a walk goes in circles, in constant memory. It keeps the latest cursors and, of those before, every
 * n-th, with n doubled whenever there would be too many: a cycle is found as soon as one of the cursors kept comes
 * again. That is the first repeat for a cycle of up to 8 cursors and for every walk of up to 64 pages, and 1/32 of the
 * pages later at most for a longer one (Brent's algorithm, which keeps one cursor, may take two more rounds). Only an
 * equal cursor is taken for a repeat.
 */
export class CycleDetector {
  readonly #recent: string[] = [];
  #samples: string[] = [];
  #stride = 1;
  #count = 0;

  /** Adds a cursor of the walk. Returns whether it closes a cycle. */
  closes(cursor: string): boolean {
    if (this.#recent.includes(cursor) || this.#samples.includes(cursor)) return true;
    this.#recent.push(cursor);
    if (this.#recent.length > RECENT) this.#recent.shift();
    if (this.#count % this.#stride === 0) this.#samples.push(cursor);
    this.#count += 1;
    if (this.#samples.length > SAMPLES) {
      this.#samples = this.#samples.filter((_, index) => index % 2 === 0);
      this.#stride *= 2;
    }
    return false;
  }
}
