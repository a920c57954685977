import type { AutomationError } from "../client/index.ts";
import type { BulkCounts } from "../core/errors/bulk-error.ts";
import type { BulkState, Reference } from "./journal.ts";
import type { BulkProgress, BulkSummary } from "./progress.ts";
import type { BulkReason } from "./reason.ts";

/** The end of one item of a run. */
export interface BulkEntry<Item, Result> {
  /** The key of the item. */
  readonly key: string;
  /** The item as it came. */
  readonly item: Item;
  /**
   * `done`: written. `refused`: the service refused this item; the next run sends it again. `not_sent`: certainly not written;
   * the next run sends it. `unknown`: perhaps written, also where a 2xx response could not be used.
   */
  readonly state: BulkState;
  /** It was done by an earlier run, and this run sent nothing for it. */
  readonly skipped: boolean;
  /** The value that `send` resolved with in this run, if the item is `done`. */
  readonly result: Result | undefined;
  /** The part of the result that the journal keeps, of this run or an earlier one. */
  readonly reference: Reference | undefined;
  /** The reason why the item is not `done`, from this run or an earlier one. `undefined` if it is `done`. */
  readonly reason: BulkReason | undefined;
  /** The error behind `reason`, if it came in this run; with `done`, the error of `send` or `reference` after the write. */
  readonly error: AutomationError | undefined;
}

/**
 * A run of `bulkWrite`. It begins when it is awaited or iterated, and can be iterated once.
 *
 * It ends in one of three ways, awaited or iterated:
 * - Every item is `done`, by this run or an earlier one: it resolves with the counts, and its loop ends.
 * - Items are left: it rejects with a `BulkError` after it has done what it could. A loop throws it after the last entry.
 * - It cannot work, because of its journal, `items`, `key` or `send`: it rejects with a `JournalError`, an `ArgumentError`, a
 *   `SendError` or the error of `items`.
 *
 * A `break` stops the run in order, and throws nothing but a failure of the third kind. A run can be awaited again, also after
 * its loop; then nothing is sent.
 */
export interface BulkRun<Item, Result> extends AsyncIterable<BulkEntry<Item, Result>>, Promise<BulkSummary> {
  /** Counts of the items so far; once the run has ended, of all of them, and of those of a stream that were taken. */
  readonly summary: BulkCounts;
  /** The progress of the run, for a progress line. */
  readonly progress: BulkProgress;
  /** The error that stopped the run before its last item: an outage, a token that is refused, the signal, a failure. */
  readonly stoppedBy: AutomationError | undefined;
}
