import { platformTurn } from "../base/clock.ts";
import type { Deadline } from "../base/deadline.ts";
import { note } from "../errors/automation-error.ts";
import { beginStackInAwaiter } from "../errors/caller-stack.ts";
import { PaginationError } from "../errors/classes.ts";
import type { Page } from "../models.ts";
import type { Path } from "../request/url.ts";

/** So many empty pages in a row end a walk: the list may have no end, and its consumer never gets to decide. */
const MAX_EMPTY_PAGES = 1_000;

/** Where the pages of a list come from. */
export interface PageSource<Item> {
  /** What errors name the list by, such as `"projects.list"`. */
  readonly label: string;
  readonly path: Path;
  /** The cursor of the first page; `null` for the beginning. */
  readonly start: string | null;
  /** Asks for the next page while one is being consumed. */
  readonly prefetch: boolean;
  /** Checks what a method of the list was given, in the name of the method. */
  readonly check: <Result>(name: string, read: () => Result) => Result;
  /** Asks for a page, as a part of the walk: one request. */
  readonly fetch: (cursor: string | null, within?: Deadline) => Promise<Page<Item>>;
}

/** One walk over a list. */
export interface WalkRules {
  /** Ends it, with the request in flight. */
  readonly closing?: Deadline;
  /** How many items are wanted: nothing is prefetched past them. */
  readonly max?: number;
}

/**
 * The pages of a list in order, one request each; with `prefetch` one page at most is asked for ahead. An error carries
 * the `cursor` of the page that failed. `describe` runs at the first `next()`: what it throws rejects that.
 */
export async function* walkPages<Item>(
  describe: () => PageSource<Item>,
  { closing, max = Number.POSITIVE_INFINITY }: WalkRules = {},
): AsyncGenerator<Page<Item>, void, undefined> {
  try {
    const source = describe();
    const cycle = new CycleDetector();
    let cursor = source.start;
    let wanted = max;
    let emptyPages = 0;
    let ahead: Promise<Page<Item>> | undefined;
    if (cursor !== null) cycle.closes(cursor);
    for (;;) {
      const page = await (ahead ?? fetchPage(source, cursor, closing));
      if (closing?.reason !== undefined) return;
      ahead = undefined;
      cursor = page.next_cursor;
      wanted -= page.data.length;
      emptyPages = page.data.length === 0 ? emptyPages + 1 : 0;
      const isEndless = cursor !== null && (cycle.closes(cursor) || emptyPages === MAX_EMPTY_PAGES);
      if (source.prefetch && cursor !== null && !isEndless && wanted > 0) {
        // The connection that this page came on is free after a turn of the platform: without it there would be a second one.
        await platformTurn();
        if (closing?.reason !== undefined) return;
        ahead = fetchPage(source, cursor, closing);
        // The walk may never come to it.
        ahead.catch(() => {});
        // The consumer of this page may block the thread, so the request has to leave first.
        await platformTurn();
      }
      yield page;
      if (cursor === null) return;
      if (isEndless) throw endlessError(source, cursor, emptyPages);
    }
  } catch (error) {
    if (closing?.reason === undefined) throw await beginStackInAwaiter(error, walkPages);
  }
}

/** One page of a list. An error carries the `cursor`. */
export async function fetchPage<Item>(
  { fetch }: PageSource<Item>,
  cursor: string | null,
  within?: Deadline,
): Promise<Page<Item>> {
  try {
    return await fetch(cursor, within);
  } catch (error) {
    note(error, "cursor", cursor);
    throw error;
  }
}

function endlessError({ label, path }: PageSource<unknown>, cursor: string, emptyPages: number): PaginationError {
  const what =
    emptyPages === MAX_EMPTY_PAGES
      ? `sent ${MAX_EMPTY_PAGES} empty pages in a row`
      : "sent a cursor of this walk again, so the list goes in circles";
  return new PaginationError(`${label}: the service ${what}`, {
    method: "GET",
    path: path.template,
    outcome: "accepted",
    cursor,
  });
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
    if (this.#count % this.#stride === 0) this.#sample(cursor);
    this.#count += 1;
    return false;
  }

  #sample(cursor: string): void {
    this.#samples.push(cursor);
    if (this.#samples.length <= SAMPLES) return;
    this.#samples = this.#samples.filter((_, index) => index % 2 === 0);
    this.#stride *= 2;
  }
}
