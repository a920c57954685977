import type { AutomationError } from "../client/index.ts";
import { isBrandedError } from "../core/errors/automation-error.ts";
import { explain } from "../core/errors/explanation.ts";
import { JournalError } from "../core/errors/journal-error.ts";
import { Redactor } from "../core/secrets/redact.ts";

export interface Thrown {
  readonly error: AutomationError | undefined;
  /** Its message behind a colon, to end a sentence with; empty if it cannot be read. */
  readonly said: string;
  /** The details of an error that it caused: a copy without secrets. */
  readonly details: { readonly cause?: unknown };
}

const MAX_SHOWN = 300;
/** Of no client: it finds secrets by the name before them. */
const REDACTOR = new Redactor({ tokens: [] });

/** A text as one line of at most 300 characters, without secrets that have their name before them. */
export function shownLine(text: string): string {
  return REDACTOR.line(text, MAX_SHOWN);
}

/** `redactor` is that of the client. */
export function readThrown(value: unknown, redactor = REDACTOR): Thrown {
  if (isBrandedError(value)) return { error: value, said: `: ${value.message}`, details: { cause: value } };
  const { chain, why } = explain(value);
  if (chain.length === 0) return { error: undefined, said: "", details: {} };
  return { error: undefined, said: `: ${redactor.line(why, MAX_SHOWN)}`, details: { cause: redactor.cause(value) } };
}

export type ReadThrown = (value: unknown) => Thrown;

/** An error of another kind becomes its cause. */
export function asJournalError(error: unknown, what: string, read: ReadThrown = readThrown): JournalError {
  if (error instanceof JournalError) return error;
  const { said, details } = read(error);
  return new JournalError(`the journal could not ${what}${said}`, { reason: "failed", ...details });
}
