/** Many writes with a durable journal: `project-automation/bulk`. */

export { type BulkCounts, BulkError } from "../core/errors/bulk-error.ts";
export { JournalError, type JournalErrorDetails, type JournalErrorReason } from "../core/errors/journal-error.ts";
export { SendError } from "../core/errors/send-error.ts";
export type { BulkEntry, BulkRun } from "./bulk-run.ts";
export { bulkWrite } from "./bulk-write.ts";
export type { Items } from "./item-source.ts";
export type { BulkState, Journal, JournalContents, JournalRecord, Reference } from "./journal.ts";
export { memoryJournal } from "./memory-journal.ts";
export type { BulkOptions, Resolution, UnknownItem } from "./options.ts";
export type { BulkProgress, BulkSummary } from "./progress.ts";
export type { BulkReason } from "./reason.ts";
