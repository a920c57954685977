import { INVALID, iterables } from "../core/checks/validators.ts";
import { describeValue, isObject } from "../core/checks/values.ts";
import { JournalError } from "../core/errors/journal-error.ts";
import { type BulkReason, interruptedReason, problemOfReason } from "./reason.ts";

/** The state in which a key can end. */
export type BulkState = "done" | "refused" | "not_sent" | "unknown";

/** The part of a result that a journal keeps, such as the number of an issue. */
export type Reference = string | number;

/** One fact about one key. Plain data: it can be written as JSON, and a journal stores all of it. */
export interface JournalRecord {
  /** The key of the item. */
  readonly key: string;
  /** `"sending"` is recorded before a request of an item leaves, every other state afterwards. */
  readonly state: "sending" | BulkState;
  /** When it was recorded: ISO 8601, by the clock of the process. */
  readonly at: string;
  /**
   * The service that it is true of: origin and base path; of an emulator, its world as well. Each record of a run has it. A
   * journal that does not keep it leaves every key `unknown` for later runs.
   */
  readonly service?: string | undefined;
  /**
   * One more than that of the record of its key before it. A store of many processes that makes journal, key and revision
   * unique refuses the second of two runs that record the same step.
   */
  readonly revision?: number | undefined;
  /** The value that the option `reference` returned for the result. Only with `"done"`. */
  readonly reference?: Reference | undefined;
  /** The reason why the item is not done. Only with `"refused"`, `"not_sent"` and `"unknown"`. */
  readonly reason?: BulkReason | undefined;
}

/** The records of a journal, oldest first. Of several records of one key, the last one counts. */
export type JournalContents = Iterable<JournalRecord> | AsyncIterable<JournalRecord>;

/**
 * The store in which a run records each request and its outcome. A journal of your own, for SQL or Redis, needs `load` and
 * `append`. It must keep two runs from using the same records at once, and neither method may wait forever. One object
 * serves one run at a time: the package refuses a second one.
 */
export interface Journal {
  /** Opens the journal for one run, and returns all records. Called once at the start of a run, and before each other method. */
  load(): JournalContents | PromiseLike<JournalContents>;
  /**
   * Stores records in their order, all or none, and resolves when they are durable. Never called again before it has
   * settled. After a rejection it is not called until the journal has been closed and loaded again. A store of many
   * processes rejects with a `JournalError` (`in_use`) if it has one of these keys and revisions already; any other
   * rejection is `failed`.
   */
  append(records: readonly JournalRecord[]): PromiseLike<void> | void;
  /**
   * Lets other runs use the journal. Called once at the end of each run that has called `load`, also if that or `append`
   * failed. Not called if `load` failed with the reason `in_use`.
   */
  close?(): PromiseLike<void> | void;
}

/** The latest record of a key. `at` of an `unknown` one is when its request was about to be sent. */
export type Known = Omit<JournalRecord, "key">;

/** The reason of an item that is not done, by its latest record. */
export function reasonOfKnown({ state, at, reason }: Known): BulkReason {
  if (state === "sending") return interruptedReason(at);
  return reason ?? { kind: "journal", message: "the journal does not keep the reason", recordedAt: at };
}

/** Throws `JournalError` unless a value is what `load` may resolve with. */
export function parseContents(value: unknown): JournalContents {
  const { words, parse } = iterables<JournalRecord>(); // each record is checked when it is taken
  const contents = parse(value);
  if (contents !== INVALID) return contents;
  throw new JournalError(`load must resolve with ${words}, not ${describeValue(value)}`, { reason: "failed" });
}

const STATES: readonly unknown[] = ["sending", "done", "refused", "not_sent", "unknown"];

/** Throws `JournalError` unless `value` is a record. `position` counts from 1. */
export function parseRecord(value: unknown, position: number): JournalRecord {
  const problem = problemOfRecord(value);
  if (problem === undefined) return value as JournalRecord; // it has no problem
  throw new JournalError(`record ${position} of the journal ${problem}`, { reason: "damaged" });
}

/** Returns what keeps a value from being a record; `undefined` if it is one. */
export function problemOfRecord(value: unknown): string | undefined {
  if (!isObject(value)) return `must be an object, not ${describeValue(value)}`;
  const { key, state, at, service, revision, reference, reason }: Partial<Record<keyof JournalRecord, unknown>> = value;
  if (typeof key !== "string") return `must have a string as its key, not ${describeValue(key)}`;
  if (!STATES.includes(state)) return `must have one of the states ${STATES.join(", ")}`;
  if (typeof at !== "string" || Number.isNaN(Date.parse(at))) return "must have the time of its recording as `at`";
  if (service !== undefined && typeof service !== "string") return "must have a string as its service, if any";
  if (revision !== undefined && !(Number.isSafeInteger(revision) && Number(revision) >= 1)) {
    return "must have a whole number from 1 up as its revision, if any";
  }
  if (!isReference(reference)) return "must have a string or a number as its reference, if any";
  return problemOfReason(reason);
}

/** Tells a value that can be kept as a reference; `undefined` means none. */
export function isReference(value: unknown): value is Reference | undefined {
  return value === undefined || typeof value === "string" || (typeof value === "number" && Number.isFinite(value));
}
