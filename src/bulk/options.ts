import { parseOptions } from "../client/checks/parse-options.ts";
import {
  BOOLEAN,
  FUNCTION,
  INTERVAL,
  type ObjectSchema,
  type Present,
  required,
  SIGNAL,
  validator,
  withMethods,
} from "../client/checks/validators.ts";
import { isObject } from "../client/checks/values.ts";
import { asErrorClass } from "../client/errors/as-error-class.ts";
import { ArgumentError } from "../client/errors/classes.ts";
import type { Items } from "./item-source.ts";
import type { Journal, Reference } from "./journal.ts";

/** What `send` has to pass on to the client's method, as its call options. */
export interface SendOptions {
  /** Ends the call when the run has been stopped. */
  readonly signal: AbortSignal;
  /** Records the item before its request leaves. A function that wraps it returns its promise, or awaits it. */
  readonly onRequest: (request: { readonly callId: string }) => Promise<void>;
  /** Sees whether the service accepted the item. */
  readonly onResponse: (response: { readonly callId: string; readonly status: number; readonly url: string }) => void;
}

/** What `resolveUnknown` knows of an item, besides the item. */
export interface UnknownItem {
  /** The key of the item. */
  readonly key: string;
  /** When its request was about to be sent. With a journal that keeps the last record only: when that was recorded. */
  readonly recordedAt: Date;
  /** Aborts when the run has been stopped; for the calls with which the service is asked. */
  readonly signal: AbortSignal;
}

/** What was found out about an item whose outcome is unknown. */
export type Resolution = "applied" | "not_applied" | "undecided";

/** Options of `bulkWrite`. */
export interface BulkOptions<Item, Result> {
  /**
   * What to write. A collection such as an array is walked once for its keys before anything is sent; a stream, which is
   * a generator or an async iterable, is taken from as there is room.
   */
  readonly items: Items<Item>;
  /** Returns the key of an item: not empty, unique, and the same in every run. */
  readonly key: (item: Item) => string;
  /**
   * Writes one item, with one call of the client, and passes `options` on to it, all of them. It must wait for that
   * call, reject with what the client rejects with, and not repeat it. The compiler accepts a function that leaves
   * `options` out; the run finds it by its first request.
   */
  readonly send: (item: Item, options: SendOptions) => PromiseLike<Result>;
  /**
   * How many items a stream has, for `run.progress`. A collection is counted, whatever this says.
   */
  readonly total?: number | undefined;
  /** Where the run records what it sends: `fileJournal`, `memoryJournal`, or one of your own. */
  readonly journal: Journal;
  /**
   * How many items may be under way at once. The client's rate limiter decides how many of them are sent.
   * @default 10
   */
  readonly concurrency?: number | undefined;
  /**
   * Looks whether an item was written whose outcome an earlier run left unknown. `"applied"` makes it `done`,
   * `"not_applied"` sends it again, `"undecided"` leaves it `unknown`. Without it, such items are not sent.
   */
  readonly resolveUnknown?: ((item: Item, unknown: UnknownItem) => Promise<Resolution>) | undefined;
  /**
   * Returns what the journal keeps of a result, such as the number of an issue; later runs have it in their entries.
   * Without it, the journal keeps nothing of a result.
   */
  readonly reference?: ((result: Result, item: Item) => Reference | undefined) | undefined;
  /**
   * Sends items again that an earlier run left `refused`, for instance after their data has been corrected.
   * @default false
   */
  readonly retryRefused?: boolean | undefined;
  /** Stops the run in order. What is not on its way yet is not sent. */
  readonly signal?: AbortSignal | undefined;
  /**
   * How long a run that is being stopped waits for requests on their way, in milliseconds. Then they are aborted, and
   * their items are `unknown`. `0` aborts them at once. What ignores that it was aborted is not waited for. A stream is
   * waited for as long, if it has been asked for an item.
   * @default 5_000
   */
  readonly graceMs?: number | undefined;
  /** Returns the end of the present pause, for `progress`: `() => client.rateLimit?.pausedUntil`. */
  readonly pausedUntil?: (() => Date | undefined) | undefined;
}

/** Options of a run as it uses them. */
export type Settings<Item, Result> = Present<BulkOptions<Item, Result>> & {
  readonly concurrency: number;
  readonly retryRefused: boolean;
  readonly graceMs: number;
};

const ITEMS = validator(
  "an iterable or an async iterable of items",
  (value) => isObject(value) && (Symbol.iterator in value || Symbol.asyncIterator in value),
);

const OPTIONS: ObjectSchema<BulkOptions<never, never>> = {
  items: required(ITEMS),
  key: required(FUNCTION),
  send: required(FUNCTION),
  journal: required(withMethods("a journal", "load", "append")),
  total: validator("a whole number from 0 up", (value) => Number.isSafeInteger(value) && Number(value) >= 0),
  concurrency: validator("a whole number from 1 up", (value) => Number.isSafeInteger(value) && Number(value) >= 1),
  resolveUnknown: FUNCTION,
  reference: FUNCTION,
  retryRefused: BOOLEAN,
  signal: SIGNAL,
  graceMs: validator("a number of milliseconds, or 0", (value) => value === 0 || INTERVAL.accepts(value)),
  pausedUntil: FUNCTION,
};

/** @throws ArgumentError if an option is unknown, missing or of the wrong type. */
export function settingsOf<Item, Result>(options: BulkOptions<Item, Result>): Settings<Item, Result> {
  const checked = asErrorClass(ArgumentError, () =>
    parseOptions<BulkOptions<Item, Result>>(options, "options", OPTIONS),
  );
  return { concurrency: 10, retryRefused: false, graceMs: 5_000, ...checked };
}
