import { argument } from "../check.ts";
import { describeType } from "../describe-type.ts";
import { ArgumentError } from "../errors/client-errors.ts";
import { ignoreErrors } from "../ignore-errors.ts";

/** An item with its key. */
export interface KeyedItem<Item> {
  readonly key: string;
  readonly item: Item;
}

/** Where the items of a run come from. */
export type Items<Item> = Iterable<Item> | AsyncIterable<Item>;

/** How many duplicates a message names, and how much of each. */
const NAMED = 10;
const NAMED_LENGTH = 100;

/**
 * Hands out items with their keys, each key once. A collection, which can be walked again, is checked as a whole before
 * its first item; a stream (a generator, an async iterable) is checked as it comes.
 */
export class ItemSource<Item> {
  /** How many items there are; `undefined` for a stream. */
  readonly total: number | undefined;
  readonly #iterator: Iterator<Item> | AsyncIterator<Item>;
  readonly #key: (item: Item) => string;
  /** The keys of a stream so far; a collection has been checked. */
  readonly #seen: Set<string> | undefined;
  #position = 0;
  #isPending = false;
  #hasEnded = false;

  /** @throws ArgumentError if a key of a collection is no key, or occurs twice; all of these are named. */
  constructor(items: Items<Item>, key: (item: Item) => string) {
    this.#key = key;
    if (Symbol.asyncIterator in items) {
      this.#iterator = items[Symbol.asyncIterator]();
      this.#seen = new Set();
      return;
    }
    this.#iterator = items[Symbol.iterator]();
    // An iterator that returns itself is used up by being walked.
    if ((this.#iterator as unknown) === items) this.#seen = new Set();
    else this.total = this.#checkAll(items);
  }

  /**
   * Returns the next item, or `undefined` at the end.
   *
   * @throws ArgumentError if its key is no key or has come before, or if `items` fails.
   */
  async take(): Promise<KeyedItem<Item> | undefined> {
    if (this.#hasEnded) return undefined;
    const step = await this.#step();
    if (step.done === true) {
      this.#hasEnded = true;
      return undefined;
    }
    const item = step.value;
    this.#position += 1;
    const key = this.#keyOf(item, this.#position);
    if (this.#seen?.has(key)) throw duplicates([key]);
    this.#seen?.add(key);
    return { key, item };
  }

  /** Hands out no more items of a stream, and lets it clean up. A collection goes on, to account for each item. */
  async stop(): Promise<void> {
    if (this.total !== undefined || this.#hasEnded) return;
    this.#hasEnded = true;
    const end = (): unknown => this.#iterator.return?.();
    // A stream that is waiting for its next item may wait forever.
    if (this.#isPending) return ignoreErrors(end);
    try {
      await end();
    } catch {
      // Its items are not needed any more.
    }
  }

  async #step(): Promise<IteratorResult<Item>> {
    this.#isPending = true;
    try {
      return await this.#iterator.next();
    } catch (cause) {
      this.#hasEnded = true;
      return argument.fail("items failed", cause);
    } finally {
      this.#isPending = false;
    }
  }

  #keyOf(item: Item, position: number): string {
    let key: unknown;
    try {
      key = this.#key(item);
    } catch (cause) {
      argument.fail(`key failed for item ${position}`, cause);
    }
    if (typeof key === "string" && key !== "") return key;
    return argument.fail(`key of item ${position} must be a string that is not empty, not ${describeType(key)}`);
  }

  #checkAll(items: Iterable<Item>): number {
    const seen = new Set<string>();
    const repeated = new Set<string>();
    let position = 0;
    for (const item of items) {
      position += 1;
      const key = this.#keyOf(item, position);
      if (seen.has(key)) repeated.add(key);
      seen.add(key);
    }
    if (repeated.size > 0) throw duplicates([...repeated]);
    return position;
  }
}

function duplicates(keys: readonly string[]): ArgumentError {
  const named = keys.slice(0, NAMED).map((key) => JSON.stringify(key.slice(0, NAMED_LENGTH)));
  const more = keys.length > NAMED ? ` and ${keys.length - NAMED} more` : "";
  const message = `items must have different keys; more than one item has ${named.join(", ")}${more}`;
  return new ArgumentError(message, { outcome: "not_sent" });
}
