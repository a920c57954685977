import { describeValue, isObject } from "../client/checks/values.ts";
import { JournalError } from "../client/errors/journal-error.ts";

/** The state in which a key can end. */
export type BulkState = "done" | "refused" | "not_sent" | "unknown";

/** What a journal keeps of a result, such as the number of an issue. */
export type Reference = string | number;

/** One fact about one key. Plain data: it can be written as JSON. */
export interface JournalRecord {
  /** The key of the item. */
  readonly key: string;
  /** `"sending"` is recorded before the first request of an item leaves, every other state afterwards. */
  readonly state: "sending" | BulkState;
  /** When it was recorded: ISO 8601, by the clock of the process. */
  readonly at: string;
  /** What `reference` returned for the result. Only with `"done"`. */
  readonly reference?: Reference | undefined;
}

/** What a journal holds, oldest record first. Of several records of one key, the last one counts. */
export type JournalContents = Iterable<JournalRecord> | AsyncIterable<JournalRecord>;

/**
 * Where a run records what it is about to send, and the outcome. A journal of your own, for SQL or Redis, needs `load` and
 * `append`. It must keep two runs from using the same records at once, and neither method may wait forever.
 */
export interface Journal {
  /** Returns all records. Called once at the start of a run. */
  load(): JournalContents | PromiseLike<JournalContents>;
  /**
   * Stores records in their order, and resolves when they are durable. Never called again before it has settled. If it
   * rejects, the run stops, and the journal is not written to again.
   */
  append(records: readonly JournalRecord[]): PromiseLike<void> | void;
  /** Called once, at the end of each run. */
  close?(): PromiseLike<void> | void;
}

/** What a journal says about a key that is not certainly unsent. */
export type Known = Pick<JournalRecord, "at" | "reference"> & {
  readonly state: "sending" | "done" | "refused" | "unknown";
};

const STATES: readonly unknown[] = ["sending", "done", "refused", "not_sent", "unknown"];

/** Throws `JournalError` unless `value` is a record. `position` counts from 1. */
export function checkRecord(value: unknown, position: number): JournalRecord {
  const flaw = flawOfRecord(value);
  if (flaw === undefined) return value as JournalRecord; // it has no flaw
  throw new JournalError(`record ${position} of the journal ${flaw}`, { reason: "damaged" });
}

/** What keeps a value from being a record. */
export function flawOfRecord(value: unknown): string | undefined {
  if (!isObject(value)) return `must be an object, not ${describeValue(value)}`;
  const { key, state, at, reference }: Partial<Record<keyof JournalRecord, unknown>> = value;
  if (typeof key !== "string") return `must have a string as its key, not ${describeValue(key)}`;
  if (!STATES.includes(state)) return `must have one of the states ${STATES.join(", ")}`;
  if (typeof at !== "string" || Number.isNaN(Date.parse(at))) return "must have the time of its recording as `at`";
  return isReference(reference) ? undefined : `must have a string or a number as its reference, if any`;
}

/** Whether a value can be kept as a reference; `undefined` means none. */
export function isReference(value: unknown): value is Reference | undefined {
  return value === undefined || typeof value === "string" || (typeof value === "number" && Number.isFinite(value));
}
