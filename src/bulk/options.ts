import { ArgumentError, type Client } from "../client/index.ts";
import { INTERNALS, internalsOf, redactorOf } from "../core/call/internals.ts";
import { type Context, DEFAULT_RETRY, type RetryRules } from "../core/call/settings.ts";
import { invalid } from "../core/checks/invalid-input.ts";
import {
  DELAY,
  either,
  functions,
  iterables,
  mapped,
  numbers,
  type Parsed,
  parseOptions,
  required,
  type Shape,
  SIGNAL,
  typed,
  withMethods,
} from "../core/checks/validators.ts";
import { asErrorClass } from "../core/errors/as-error-class.ts";
import type { InnerInstrumentation } from "../core/instrumentation.ts";
import type { Items } from "./item-source.ts";
import type { Journal, Reference } from "./journal.ts";
import { type ReadThrown, readThrown } from "./thrown.ts";

/** The second argument of `resolveUnknown`. */
export interface UnknownItem {
  /** The key of the item. */
  readonly key: string;
  /** When its request was about to be sent. With a journal that keeps the last record only: when that was recorded. */
  readonly recordedAt: Date;
  /** Aborts when the run has been stopped; for the calls with which the service is asked. */
  readonly signal: AbortSignal;
}

/** The answer of `resolveUnknown` about an item whose outcome is unknown. */
export type Resolution = "applied" | "not_applied" | "undecided";

/** Options of `bulkWrite`. */
export interface BulkOptions<Item, Result> {
  /** The client to write with. Its options, token and rate limiter are used, and its retry settings in an outage. */
  readonly client: Client;
  /**
   * The items to write. A collection such as an array is walked once for its keys before anything is sent; a stream, which is
   * a generator or an async iterable, is taken from as there is room.
   */
  readonly items: Items<Item>;
  /** Returns the key of an item: not empty, unique, and the same in every run. */
  readonly key: (item: Item) => string;
  /**
   * Writes one item, with one write of the client that it is called with: such as `client.issues.create`, or `client.request`
   * with another method than `GET` and `HEAD`. Reads are free. The state of the item is that of the write, whatever `send`
   * does with the promise.
   */
  readonly send: (client: Client, item: Item) => PromiseLike<Result>;
  /**
   * The number of items of a stream, for `run.progress`. A collection is counted, whatever this says.
   */
  readonly total?: number | undefined;
  /** The record of what was sent: `fileJournal`, `memoryJournal`, or one of your own. */
  readonly journal: Journal;
  /**
   * The largest number of items under way at once. The client's rate limiter decides how many of them are sent.
   * @default 10
   */
  readonly concurrency?: number | undefined;
  /**
   * The number of failures that stop the run: items that did not get through, for a reason that is not their own. Each ten
   * items that get through take back one. Failures of items that were under way together count as one. `false`: never.
   * @default 10
   */
  readonly stopAfter?: number | false | undefined;
  /**
   * Finds out about an item whose outcome an earlier run left unknown. `"applied"` makes it `done`,
   * `"not_applied"` sends it again, `"undecided"` leaves it `unknown`. Without it, such items are not sent.
   */
  readonly resolveUnknown?: ((item: Item, unknown: UnknownItem) => Promise<Resolution>) | undefined;
  /**
   * Returns the part of a result that the journal keeps, such as the number of an issue; later runs have it in their entries.
   * Without it, the journal keeps nothing of a result.
   */
  readonly reference?: ((result: Result, item: Item) => Reference | undefined) | undefined;
  /** Stops the run in order. What is not on its way yet is not sent. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The wait of a run that `signal` or `break` stops for requests on their way, in milliseconds. Then they are aborted, and
   * their items are `unknown`. `0` aborts them at once. A function that ignores its signal is not waited for. A stream is
   * waited for as long, if it has been asked for an item.
   * @default 5_000
   */
  readonly graceMs?: number | undefined;
}

export type BulkSettings<Item, Result> = Parsed<ReturnType<typeof shapeOf<Item, Result>>> & {
  readonly concurrency: number;
  /** `Infinity`: never. */
  readonly stopAfter: number;
  readonly graceMs: number;
  readonly rules: RetryRules;
  readonly readThrown: ReadThrown;
  readonly bind: (inner: InnerInstrumentation) => Client;
  /** The service, the token, the `fetch` and the log of the client. */
  readonly own: Context;
};

/** Not `countFrom`: with `Infinity`, a run would begin all items at once. */
const COUNT = numbers("a whole number from 1 up", (value) => Number.isSafeInteger(value) && value >= 1);

function shapeOf<Item, Result>() {
  type Options = BulkOptions<Item, Result>;
  return {
    client: required(typed("a Client of this package", (value): value is Client => internalsOf(value) !== undefined)),
    items: required(iterables<Item>()),
    key: required(functions<Options["key"]>()),
    send: required(functions<Options["send"]>()),
    journal: required(withMethods<Journal>("a journal", "load", "append")),
    total: numbers("a whole number from 0 up", (value) => Number.isSafeInteger(value) && value >= 0),
    concurrency: COUNT,
    stopAfter: mapped(either(false, COUNT), (count) => count || Number.POSITIVE_INFINITY),
    resolveUnknown: functions<NonNullable<Options["resolveUnknown"]>>(),
    reference: functions<NonNullable<Options["reference"]>>(),
    signal: SIGNAL,
    graceMs: DELAY,
  } satisfies Shape<Options>;
}

/** @throws ArgumentError if an option is unknown, missing or of the wrong type. */
export function parseBulkOptions<Item, Result>(options: BulkOptions<Item, Result>): BulkSettings<Item, Result> {
  return asErrorClass(ArgumentError, () => {
    const parsed = parseOptions(options, "options", shapeOf<Item, Result>());
    const internals = parsed.client[INTERNALS];
    const own = internals.context();
    if (own.inner !== undefined) {
      return invalid("options.client is that of one item, for one write: begin this run outside of send");
    }
    return {
      concurrency: 10,
      graceMs: 5_000,
      stopAfter: 10,
      ...parsed,
      rules: own.retry || DEFAULT_RETRY,
      readThrown: (value) => readThrown(value, redactorOf(own)),
      bind: (inner) => internals.instrumented(inner),
      own,
    };
  });
}
