import { type AutomationError, isBrandedError } from "../errors/automation-error.ts";
import { JournalError } from "../errors/journal-error.ts";

/** What was thrown: an error of this library, or something else with its message where it has one. */
export interface Thrown {
  readonly error: AutomationError | undefined;
  /** The message behind a colon, to end a sentence with; empty if there is none that can be read. */
  readonly said: string;
  /** The details of an error that it caused. */
  readonly details: { readonly cause?: unknown };
}

/** Reads what a function of the caller's threw. Never throws itself: what cannot be read, such as a revoked proxy, has no message. */
export function readThrown(value: unknown): Thrown {
  try {
    if (isBrandedError(value)) return { error: value, said: `: ${value.message}`, details: { cause: value } };
    const said = value instanceof Error ? `: ${value.message}` : "";
    return { error: undefined, said, details: { cause: value } };
  } catch {
    return { error: undefined, said: "", details: {} };
  }
}

/** An error of a journal as a `JournalError`; one of another kind becomes the cause of one. */
export function asJournalError(error: unknown, what: string): JournalError {
  if (error instanceof JournalError) return error;
  const { said, details } = readThrown(error);
  return new JournalError(`the journal could not ${what}${said}`, { reason: "failed", ...details });
}
