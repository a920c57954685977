import type { AutomationError } from "../client/errors/automation-error.ts";
import type { BulkState, Reference } from "./journal.ts";
import type { BulkProgress, BulkSummary } from "./progress.ts";

/** How one item of a run ended. */
export interface BulkEntry<Item, Result> {
  /** The key of the item. */
  readonly key: string;
  /** The item as it came. */
  readonly item: Item;
  /**
   * `done`: written. `refused`: the service refused this item. `not_sent`: certainly not written; the next run sends it.
   * `unknown`: perhaps written.
   */
  readonly state: BulkState;
  /** It ended in an earlier run, and this run sent nothing for it. */
  readonly skipped: boolean;
  /** What `send` resolved with in this run. */
  readonly result: Result | undefined;
  /** What the journal keeps of the result, of this run or an earlier one. */
  readonly reference: Reference | undefined;
  /** Why it is not `done`; with `done`, why it has no result or reference. */
  readonly error: AutomationError | undefined;
}

/** A run of `bulkWrite`. It begins when it is iterated, and can be iterated once. */
export interface BulkRun<Item, Result> extends AsyncIterable<BulkEntry<Item, Result>> {
  /** Counts of the items so far; once the run has ended, of all of them. */
  readonly summary: BulkSummary;
  /** How far the run has come, for a progress line. */
  readonly progress: BulkProgress;
  /** What stopped the run before its last item: the caller's signal, a token that is refused, a failure. */
  readonly stoppedBy: AutomationError | undefined;
  /**
   * Iterates the run for a caller who needs no entries.
   *
   * @returns The final counts.
   */
  finish(): Promise<BulkSummary>;
}
