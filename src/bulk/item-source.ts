import { ArgumentError } from "../client/index.ts";
import { shared } from "../core/checks/globals.ts";
import { cut, describeValue, ignoreRejection } from "../core/checks/values.ts";
import { isBrandedError } from "../core/errors/automation-error.ts";
import { Deadline } from "../core/time/deadline.ts";
import type { ReadThrown, Thrown } from "./thrown.ts";
import type { Turns } from "./turns.ts";

export interface KeyedItem<Item> {
  readonly key: string;
  readonly item: Item;
}

/** Where the items of a run come from. */
export type Items<Item> = Iterable<Item> | AsyncIterable<Item>;

interface ItemOptions<Item> {
  readonly items: Items<Item>;
  readonly key: (item: Item) => string;
  readonly readThrown: ReadThrown;
}

/** The number of keys that a message names, and the longest part of each. */
const NAMED = 10;
const NAMED_LENGTH = 100;

/** Members by which a stream of a platform says that it has ended, or that somebody else reads it. */
const ENDED = ["readableEnded", "destroyed", "closed", "locked"] as const;

const END = { done: true, value: undefined } as const;

/**
 * Hands out items with their keys, each key once. A collection, which can be walked again, is checked as a whole before
 * its first item, and must not change afterwards; a stream (a generator, an async iterable) is checked as it comes.
 */
export class ItemSource<Item> {
  readonly isStream: boolean;
  readonly #items: Items<Item>;
  readonly #iterator: Iterator<Item> | AsyncIterator<Item>;
  readonly #key: (item: Item) => string;
  readonly #readThrown: ReadThrown;
  /** Of a stream, the keys that have come; of a collection, those that are still to come. */
  readonly #keys = new Set<string>();
  #position = 0;
  #hasEnded = false;
  #isWhole = false;
  /** The item that a stream has been asked for; absent before it is asked for the first. */
  #next: Promise<unknown> | undefined;
  #stopped: Promise<void> | undefined;
  #giveUp: () => void = () => {};

  constructor({ items, key, readThrown }: ItemOptions<Item>) {
    this.#items = items;
    this.#key = key;
    this.#readThrown = readThrown;
    this.#iterator = begin(items, readThrown);
    // An iterator that returns itself is used up by being walked.
    this.isStream = Symbol.asyncIterator in items || (this.#iterator as unknown) === items;
  }

  /** All items have been seen, of a collection by its check. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  get rest(): Iterable<string> {
    return this.isStream ? [] : this.#keys;
  }

  /**
   * Walks a collection. Resolves with the number of its items; `undefined` for a stream.
   *
   * @throws ArgumentError if a key is no key, or occurs twice; all of these are named.
   */
  async check(turns: Turns): Promise<number | undefined> {
    if (this.isStream) return undefined;
    const repeated = new Set<string>();
    let position = 0;
    const items = this.#items as Iterable<Item>; // it is no stream
    for (const item of items) {
      position += 1;
      const key = this.#keyOf(item, position);
      if (this.#keys.has(key)) repeated.add(key);
      this.#keys.add(key);
      if (turns.isDue) await turns.take();
    }
    if (repeated.size > 0) throw duplicates([...repeated]);
    this.#isWhole = true;
    return position;
  }

  /** @throws ArgumentError if its key is no key or has come before, if `items` fails, or if a collection has changed. */
  async take(): Promise<KeyedItem<Item> | undefined> {
    if (this.#hasEnded) return undefined;
    const next = await this.#takeNext();
    // As in a loop: an iterator that is written by hand may say it with another value.
    if (next.done) {
      this.#hasEnded = true;
      if (!this.isStream && this.#keys.size > 0) throw changed("without", [...this.#keys]);
      this.#isWhole = this.#stopped === undefined;
      return undefined;
    }
    const item = next.value;
    this.#position += 1;
    const key = this.#keyOf(item, this.#position);
    if (!this.isStream && !this.#keys.delete(key)) throw changed("with", [key]);
    if (this.isStream && this.#keys.has(key)) throw duplicates([key]);
    if (this.isStream) this.#keys.add(key);
    return { key, item };
  }

  /**
   * Ends a stream, and lets it clean up. An item that it has been asked for is still handed out if it comes within
   * `graceMs`.
   */
  stop(graceMs: number): Promise<void> {
    if (!this.isStream || this.#hasEnded) return Promise.resolve();
    this.#stopped ??= this.#end(graceMs);
    return this.#stopped;
  }

  async #end(graceMs: number): Promise<void> {
    const returned = (async () => {
      // A generator that was never asked for an item ignores `return`: a stream of Node is iterated by one.
      if (this.#next === undefined) (this.#items as { destroy?: () => unknown }).destroy?.(); // any object can be asked
      return this.#iterator.return?.();
    })();
    const deadline = Deadline.of(graceMs);
    try {
      await deadline.race(Promise.allSettled([this.#next, returned]));
    } catch {
      this.#giveUp();
    } finally {
      deadline.release();
    }
  }

  async #takeNext(): Promise<IteratorResult<Item>> {
    try {
      return await new Promise((resolve, reject) => {
        this.#giveUp = () => resolve(END);
        this.#next = (async () => this.#iterator.next())().then(resolve, reject);
      });
    } catch (thrown) {
      this.#hasEnded = true;
      // An error of a stream that the run has ended is not about an item.
      if (this.#stopped !== undefined) return END;
      if (isBrandedError(thrown)) throw thrown;
      throw failed("items failed", this.#readThrown(thrown));
    }
  }

  #keyOf(item: Item, position: number): string {
    let key: unknown;
    try {
      key = this.#key(item);
    } catch (thrown) {
      throw failed(`key failed for item ${position}`, this.#readThrown(thrown));
    }
    if (typeof key === "string" && key !== "") return key;
    ignoreRejection(key);
    const message = `key of item ${position} must be a string that is not empty, not ${describeValue(key)}`;
    throw new ArgumentError(message, { outcome: "not_sent" });
  }
}

/**
 * Asks a source for its iterator. A source that comes once belongs to the run that asked it first.
 *
 * @throws ArgumentError if a run has asked it before, or if it says that it has ended.
 */
function begin<Item>(items: Items<Item>, readThrown: ReadThrown): Iterator<Item> | AsyncIterator<Item> {
  const begun = shared("items-begun", () => new WeakSet<object>());
  const isAsync = Symbol.asyncIterator in items;
  const stream = (isAsync ? items : {}) as Partial<Record<(typeof ENDED)[number], unknown>>; // any object can be asked
  const ended = ENDED.find((name) => stream[name] === true);
  if (ended !== undefined || begun.has(items)) {
    const why =
      ended === undefined ? "an earlier run has begun it" : `it has ended or is read elsewhere (${ended} is true)`;
    throw new ArgumentError(`items can be read once, and ${why}: make it anew for each run`, { outcome: "not_sent" });
  }
  try {
    const iterator = isAsync ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
    if ((iterator as unknown) === items || ENDED.some((name) => typeof stream[name] === "boolean")) begun.add(items);
    return iterator;
  } catch (thrown) {
    if (isBrandedError(thrown)) throw thrown;
    throw failed("items failed", readThrown(thrown));
  }
}

function failed(what: string, { said, details }: Thrown): ArgumentError {
  return new ArgumentError(`${what}${said}`, { outcome: "not_sent", ...details });
}

function duplicates(keys: readonly string[]): ArgumentError {
  const message = `items must have different keys; more than one item has ${named(keys)}`;
  return new ArgumentError(message, { outcome: "not_sent" });
}

/** The second walk of a collection came upon a key that the first did not, or without one that the first did. */
function changed(how: "with" | "without", keys: readonly string[]): ArgumentError {
  const which = how === "with" ? "it now has an item too many, or one again" : "it ended without";
  const message = `items must not change during the run, and key must return the same each time: ${which}: ${named(keys)}`;
  return new ArgumentError(message, { outcome: "not_sent" });
}

function named(keys: readonly string[]): string {
  const shown = keys.slice(0, NAMED).map((key) => JSON.stringify(cut(key, NAMED_LENGTH)));
  return `${shown.join(", ")}${keys.length > NAMED ? ` and ${keys.length - NAMED} more` : ""}`;
}
