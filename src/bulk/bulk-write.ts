import { captureCaller } from "../core/errors/caller-stack.ts";
import type { BulkRun } from "./bulk-run.ts";
import { type BulkOptions, parseBulkOptions } from "./options.ts";
import { Run } from "./run.ts";

/**
 * Writes many items, each at most once, also across crashes: a record of each item is durable in the journal before its
 * request leaves, and after its response. A run with the journal of an earlier one skips the items that are `done`, sends
 * those that were certainly not written, and asks `resolveUnknown` about the rest.
 *
 * The run begins when it is awaited or iterated. It resolves only if every item is `done`. If any is left it rejects with a
 * `BulkError`, after it has done what it could: see `BulkRun`. Iterated, entries come as items end. If they are taken slowly,
 * sending slows down: at most `concurrency` entries wait. A `break` stops the run in order, as `signal` does. An item that a
 * stopped run has not begun has no entry.
 *
 * The run reads before its first write, and after each write that ended `unknown`: `GET /projects?limit=1`. Any answer but a
 * 5xx lets the writes go on. Without an answer nothing is sent, and the run has a failure.
 *
 * An outage holds the run, and then stops it: after a failure that is not the item's own, items are sent one at a time, with
 * the client's backoff between them, until one gets through. Each that gets through doubles the number under way. After
 * `stopAfter` failures, of which each ten items that get through take back one, the run stops.
 *
 * @throws ArgumentError at once, if an option is unknown, missing or of the wrong type.
 * @example
 * const summary = await bulkWrite({
 *   client,
 *   items,
 *   key: (item) => item.id,
 *   send: (client, item) => client.issues.create(item.project, item.issue),
 *   journal: fileJournal("import.journal"),
 * });
 * console.log(summary.done);
 */
export function bulkWrite<Item, Result>(options: BulkOptions<Item, Result>): BulkRun<Item, Result> {
  const toCaller = captureCaller(bulkWrite);
  try {
    return new Run(parseBulkOptions(options), toCaller);
  } catch (error) {
    toCaller(error);
    throw error;
  }
}
