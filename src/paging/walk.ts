import { onAbort } from "../abort.ts";
import { platformTurn } from "../clock.ts";
import { noteCursor } from "../errors/automation-error.ts";
import { continueStack } from "../errors/caller-stack.ts";
import { PaginationError } from "../errors/client-errors.ts";
import type { Page } from "../models.ts";
import type { Path } from "../request/path.ts";
import { isClosed } from "./closeable.ts";
import { CycleDetector } from "./cycle.ts";

/** Where the pages of a list come from. */
export interface PageSource<Item> {
  /** What errors name the list by, such as `"projects.list"`. */
  readonly label: string;
  readonly path: Path;
  /** The cursor of the first page; `null` for the beginning. */
  readonly start: string | null;
  /** Asks for the next page while one is being consumed. */
  readonly prefetch: boolean;
  /** The caller's. */
  readonly signal: AbortSignal | undefined;
  /** Asks for a page: one request. */
  readonly fetch: (cursor: string | null, signal: AbortSignal) => Promise<Page<Item>>;
}

/** One walk over a list. */
export interface WalkRules {
  /** Ends it, with the request in flight. */
  readonly closing: AbortController;
  /** How many items are wanted: nothing is prefetched past them. */
  readonly max: number;
}

/**
 * The pages of a list in order, one request each; with `prefetch` one page at most is asked for ahead. An error carries
 * the `cursor` of the page that failed. `describe` runs at the first `next()`: what it throws rejects that.
 */
export async function* walkPages<Item>(
  describe: () => PageSource<Item>,
  { closing, max }: WalkRules,
): AsyncGenerator<Page<Item>, void, undefined> {
  const source = describe();
  const cycle = new CycleDetector();
  let cursor = source.start;
  let wanted = max;
  let ahead: Promise<Page<Item>> | undefined;
  let isRepeated = false;
  if (cursor !== null) cycle.closes(cursor);
  do {
    const page = await receive(ahead ?? fetchPage(source, cursor, closing), ahead !== undefined, closing);
    if (page === undefined) return;
    ahead = undefined;
    cursor = page.next_cursor;
    wanted -= page.data.length;
    isRepeated = cursor !== null && cycle.closes(cursor);
    if (source.prefetch && cursor !== null && !isRepeated && wanted > 0) {
      // The connection that this page came on is free after a turn of the platform: without it there would be a second one.
      await platformTurn();
      if (isClosed(closing)) return;
      ahead = fetchPage(source, cursor, closing);
      // The walk may never come to it.
      ahead.catch(() => {});
      // The consumer of this page may compute, and then nothing is sent that is not on its way.
      await platformTurn();
    }
    yield page;
  } while (cursor !== null && !isRepeated);
  if (cursor !== null) throw cycleError(source, cursor);
}

/** A page, or `undefined` if the walk was closed meanwhile. */
async function receive<Item>(
  request: Promise<Page<Item>>,
  wasAhead: boolean,
  closing: AbortController,
): Promise<Page<Item> | undefined> {
  try {
    const page = await request;
    return isClosed(closing) ? undefined : page;
  } catch (error) {
    if (isClosed(closing)) return undefined;
    // It failed when no caller was waiting for it: the stack goes on with the present caller.
    if (wasAhead) continueStack(error);
    throw error;
  }
}

/** One page of a list. An error carries the `cursor`. */
export async function fetchPage<Item>(
  { fetch, signal }: PageSource<Item>,
  cursor: string | null,
  closing: AbortController,
): Promise<Page<Item>> {
  const leave = signal && onAbort(signal, () => closing.abort(signal.reason));
  try {
    return await fetch(cursor, closing.signal);
  } catch (error) {
    noteCursor(error, cursor);
    throw error;
  } finally {
    leave?.();
  }
}

function cycleError({ label, path }: PageSource<unknown>, cursor: string): PaginationError {
  const what = "the service sent a cursor of this walk again, so the list goes in circles";
  return new PaginationError(`${label}: ${what}`, {
    method: "GET",
    path: path.template,
    outcome: "accepted",
    cursor,
  });
}
