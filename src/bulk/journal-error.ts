import { AutomationError, type ErrorDetails } from "../errors/automation-error.ts";

/**
 * Why a journal could not be used: another run uses it (`in_use`), it is not a journal or of a later version
 * (`not_a_journal`), a line or a record is not as it was written (`damaged`), a read or write failed (`failed`), or it
 * is used in a way that it does not support (`misused`).
 */
export type JournalErrorReason = "in_use" | "not_a_journal" | "damaged" | "failed" | "misused";

/** What a `JournalError` is made of. */
export interface JournalErrorDetails extends ErrorDetails {
  /** Why the journal could not be used. */
  readonly reason: JournalErrorReason;
  /** The damaged line of a file, from 1. */
  readonly line?: number | undefined;
}

/** The journal of a run cannot be used. Nothing is sent without its record, so the run has stopped, or has not begun. */
export class JournalError extends AutomationError {
  static override readonly kinds: readonly ["journal"] = ["journal"];
  declare readonly kind: "journal";
  /** Why the journal could not be used. */
  declare readonly reason: JournalErrorReason;
  /** The damaged line of a file, from 1. */
  declare readonly line?: number;

  constructor(message: string, details: JournalErrorDetails) {
    super(message, details);
  }

  /** `"JournalError"`, also where a bundler has renamed the class. */
  override get name(): string {
    return "JournalError";
  }

  override set name(name: string) {
    Object.defineProperty(this, "name", { value: name, configurable: true, writable: true });
  }
}

/** An error of a journal as a `JournalError`; one of another kind becomes the cause of one. */
export function asJournalError(error: unknown, what: string): JournalError {
  if (error instanceof JournalError) return error;
  const said = error instanceof Error ? `: ${error.message}` : "";
  return new JournalError(`the journal could not ${what}${said}`, { reason: "failed", cause: error });
}
