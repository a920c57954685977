import { AutomationError, type DetailsOf } from "./automation-error.ts";

/**
 * The reason why a journal cannot be used. `in_use`: another run uses it. `not_a_journal`: the file is another one, such as a
 * script or a device, or a journal of a later version; it is left as it is. `damaged`: a line or a record is not as it was
 * written. `failed`: a read or a write failed. `misused`: it belongs to another import or service, or was written to before it
 * was loaded.
 */
export type JournalErrorReason = "in_use" | "not_a_journal" | "damaged" | "failed" | "misused";

/** The details of a `JournalError`. */
export type JournalErrorDetails = Pick<JournalError, "reason"> & DetailsOf<JournalError, "line">;

/** The journal of a run cannot be used. Nothing is sent without its record, so the run has stopped, or has not begun. */
export class JournalError extends AutomationError {
  static override readonly kinds: readonly ["journal"] = ["journal"];
  declare readonly kind: "journal";
  /** The reason why the journal cannot be used. */
  declare readonly reason: JournalErrorReason;
  /** The damaged line of a file, from 1. */
  declare readonly line?: number | undefined;

  constructor(message: string, details: JournalErrorDetails) {
    super(message, details);
  }
}
