import { AutomationError, type DetailsOf } from "./automation-error.ts";

/**
 * Why a journal could not be used: another run uses it (`in_use`), it is not a journal or of a later version
 * (`not_a_journal`), a line or a record is not as it was written (`damaged`), a read or write failed (`failed`), or it
 * is used in a way that it does not support (`misused`).
 */
export type JournalErrorReason = "in_use" | "not_a_journal" | "damaged" | "failed" | "misused";

/** What a `JournalError` is made of. */
export type JournalErrorDetails = Pick<JournalError, "reason"> & DetailsOf<JournalError, "line">;

/** The journal of a run cannot be used. Nothing is sent without its record, so the run has stopped, or has not begun. */
export class JournalError extends AutomationError {
  static override readonly kinds: readonly ["journal"] = ["journal"];
  declare readonly kind: "journal";
  /** Why the journal could not be used. */
  declare readonly reason: JournalErrorReason;
  /** The damaged line of a file, from 1. */
  declare readonly line?: number | undefined;

  constructor(message: string, details: JournalErrorDetails) {
    super(message, details);
  }
}
