import type { AutomationError } from "../client/index.ts";
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
   * `done`: written. `refused`: the service refused this item. `not_sent`: certainly not written; the next run sends it.
   * `unknown`: perhaps written, also where a 2xx response could not be used.
   */
  readonly state: BulkState;
  /** It ended in an earlier run, and this run sent nothing for it. */
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
 * Awaited, it resolves with the final counts. It rejects with `stoppedBy` if it was stopped before its last item. It also
 * rejects if no item got through while some are left: with the error of the first item that was sent, or with a
 * `JournalError` (`undecided`) if all that is left is `unknown` from earlier runs. Iterated, it ends after its last entry,
 * and rejects only if it could not go on: because of the journal, its options or `send`. A run can be awaited again, also
 * after its iteration; then nothing is sent.
 */
export interface BulkRun<Item, Result> extends AsyncIterable<BulkEntry<Item, Result>>, PromiseLike<BulkSummary> {
  /** Counts of the items so far; once the run has ended, of all of them. */
  readonly summary: BulkSummary;
  /** The progress of the run, for a progress line. */
  readonly progress: BulkProgress;
  /** The error that stopped the run before its last item: an outage, a token that is refused, the signal, a failure. */
  readonly stoppedBy: AutomationError | undefined;
  /**
   * Runs to the end, as `await run` does.
   *
   * @returns The final counts.
   * @throws The error that stopped the run, or why no item got through. `ArgumentError` while the run is being iterated.
   */
  finish(): Promise<BulkSummary>;
  /** As of a promise of its end. */
  catch<Failure = never>(
    onRejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<BulkSummary | Failure>;
  /** As of a promise of its end. */
  finally(onEnd?: (() => void) | null): Promise<BulkSummary>;
}
