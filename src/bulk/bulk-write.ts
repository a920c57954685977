import type { AutomationError } from "../client/index.ts";
import { isBrandedError } from "../core/errors/automation-error.ts";
import { captureCaller } from "../core/errors/caller-stack.ts";
import { AwaitedRun } from "./awaited-run.ts";
import type { BulkRun } from "./bulk-run.ts";
import { type BulkOptions, settingsOf } from "./options.ts";
import type { BulkProgress, BulkSummary } from "./progress.ts";
import { Run } from "./run.ts";

/**
 * Writes many items, each at most once, also across crashes: a record of each item is durable in the journal before its
 * request leaves, and after its response. A run with the journal of an earlier one sends the items that were certainly not
 * written, skips those that are `done` or `refused`, and asks `resolveUnknown` about the rest.
 *
 * The run begins when it is awaited or iterated. `await` resolves with the final counts, and rejects with the error that
 * stopped the run. Iterated, entries come as items end. If they are taken slowly, sending slows down: at most `concurrency`
 * entries wait. A `break` stops the run in order, as `signal` does.
 *
 * The run reads before its first write, and after each write that ended `unknown`: `GET /projects?limit=1`. Any answer but a
 * 5xx lets the writes go on. Without an answer nothing is sent, and the run has a failure.
 *
 * An outage holds the run, and then stops it: after a failure that is not the item's own, items are sent one at a time, with
 * the client's backoff between them, until one gets through. Each that gets through doubles the number under way. After
 * `stopAfter` failures, of which each ten items that get through take back one, the run stops.
 *
 * Both reject with `ArgumentError` if an option, a key or `send` cannot be worked with, and with `JournalError` if the
 * journal cannot be used. Before that, requests on their way end, and their entries come.
 *
 * @example
 * const summary = await bulkWrite({
 *   client,
 *   items,
 *   key: (item) => item.id,
 *   send: (client, item) => client.issues.create(item.project, item.issue),
 *   journal: fileJournal("import.journal"),
 * });
 * console.log(summary);
 */
export function bulkWrite<Item, Result>(options: BulkOptions<Item, Result>): BulkRun<Item, Result> {
  const toCaller = captureCaller(bulkWrite);
  try {
    return new Run(settingsOf(options), toCaller);
  } catch (error) {
    if (!isBrandedError(error)) throw error;
    toCaller(error);
    return new InvalidRun(error);
  }
}

const NOTHING: BulkSummary = { done: 0, refused: 0, not_sent: 0, unknown: 0, skipped: 0, otherTokens: 0 };

/** A run whose options are invalid: it rejects, and nothing is sent. */
class InvalidRun extends AwaitedRun implements BulkRun<never, never> {
  readonly summary: BulkSummary = NOTHING;
  readonly stoppedBy: AutomationError;

  constructor(refusal: AutomationError) {
    super();
    this.stoppedBy = refusal;
  }

  get progress(): BulkProgress {
    const counts = { underWay: 0, resolving: 0, ratePerSecond: 0, elapsedMs: 0 };
    return { ...NOTHING, ...counts, total: undefined, etaMs: undefined, pausedUntil: undefined };
  }

  override async finish(): Promise<never> {
    throw this.stoppedBy;
  }

  [Symbol.asyncIterator](): AsyncIterator<never> {
    return { next: () => this.finish() };
  }
}
