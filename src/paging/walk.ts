import { platformTurn } from "../clock.ts";
import { noteCursor } from "../errors/automation-error.ts";
import { continueStack } from "../errors/caller-stack.ts";
import { PaginationError } from "../errors/client-errors.ts";
import type { Page } from "../models.ts";
import { CursorTrail } from "./cursor-trail.ts";

/** Where pages come from. */
export interface PageSource<Item> {
  /** The cursor of the first page; `null` for the beginning. */
  readonly start: string | null;
  /** Asks for the next page while one is being consumed. */
  readonly prefetch: boolean;
  /** Ends the walk's requests, whichever is under way. */
  readonly signal: AbortSignal | undefined;
  /** One request. */
  readonly fetch: (cursor: string | null, signal: AbortSignal) => Promise<Page<Item>>;
}

/** One walk from page to page, in order. Pages are asked for one at a time; a prefetched one at most is ahead. */
export class Walk<Item> {
  readonly #source: PageSource<Item>;
  readonly #trail = new CursorTrail();
  #cursor: string | null;
  #ahead: Promise<Page<Item>> | undefined;
  #request: AbortController | undefined;
  /** The service sent the walk back to where it has been. */
  #inCircles = false;
  #ended = false;

  constructor(source: PageSource<Item>) {
    this.#source = source;
    this.#cursor = source.start;
    if (source.start !== null) this.#trail.repeats(source.start);
  }

  /**
   * The next page, or `undefined` after the last. Rejects once, with the failed page's `cursor` on the error; the walk
   * has then ended. `wanted`: how many items are still wanted, so that nothing is prefetched past them.
   */
  async next(wanted: number): Promise<Page<Item> | undefined> {
    if (this.#ended) return undefined;
    const wasAhead = this.#ahead !== undefined;
    try {
      if (this.#inCircles) throw this.#circleError();
      const page = await (this.#ahead ?? this.#fetch());
      this.#ahead = undefined;
      if (this.#ended) return undefined;
      this.#turnTo(page.next_cursor);
      const goesOn = !this.#ended && !this.#inCircles && page.data.length < wanted;
      if (this.#source.prefetch && goesOn) await this.#fetchAhead();
      return page;
    } catch (error) {
      if (this.#ended) return undefined;
      this.#ended = true;
      noteCursor(error, this.#cursor);
      // Nobody was waiting for it when it failed: the stack goes on with whoever is now.
      if (wasAhead) continueStack(error);
      throw error;
    }
  }

  /** Ends the walk: what is under way is cancelled, and nothing more is sent. */
  end(): void {
    this.#ended = true;
    this.#request?.abort();
  }

  #turnTo(cursor: string | null): void {
    if (cursor === null) {
      this.#ended = true;
      return;
    }
    this.#inCircles = this.#trail.repeats(cursor);
    this.#cursor = cursor;
  }

  async #fetch(): Promise<Page<Item>> {
    const { signal, fetch } = this.#source;
    const request = new AbortController();
    const abort = (): void => request.abort(signal?.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort);
    this.#request = request;
    try {
      return await fetch(this.#cursor, request.signal);
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  // Whoever consumes this page may compute, and nothing is sent then that is not on its way.
  async #fetchAhead(): Promise<void> {
    // The connection that this page came on is free after a turn of the platform: without it there would be a second one.
    await platformTurn();
    if (this.#ended) return;
    this.#ahead = this.#fetch();
    // It is looked at when the walk gets there; nobody may ever get there.
    this.#ahead.catch(() => {});
    await platformTurn();
  }

  #circleError(): PaginationError {
    return new PaginationError("the service gave a cursor of this walk again: it goes in circles", {
      outcome: "accepted",
      cursor: this.#cursor,
    });
  }
}
