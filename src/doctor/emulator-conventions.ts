import { isRecord } from "../core/checks/values.ts";
import type { Redactor } from "../core/secrets/redact.ts";
import type { Conventions } from "../emulator/conventions.ts";
import { resolveConventions } from "../emulator/resolve-conventions.ts";
import { placeholderOf } from "./placeholder.ts";
import type { Finding } from "./question.ts";
import { isWord } from "./reading.ts";

export interface EmulatorSeed {
  /** The deployment, and the day. */
  readonly conventionsOf: string;
  readonly conventions: Conventions;
}

/** Conventions without the values of records, apart from the words for states. */
export function withoutValues({ sessionState, issueStatus, extraFields, ...conventions }: Conventions): Conventions {
  return {
    ...conventions,
    ...(extraFields && { extraFields: placeholderOf(extraFields) as typeof extraFields }), // of the same shape
    ...(sessionState !== undefined && isWord(sessionState) && { sessionState }),
    ...(issueStatus !== undefined && isWord(issueStatus) && { issueStatus }),
  };
}

/**
 * The conventions of all findings together, without values of records, without secrets, and without those that the emulator
 * would refuse.
 */
export function conventionsOf(findings: readonly Finding[], redactor: Redactor): Conventions {
  const accepted = findings.map(({ conventions = {} }) => withoutValues(conventions)).filter(isAccepted);
  const text = JSON.stringify(accepted.reduce<Conventions>(merge, {}), (_, value: unknown) =>
    typeof value === "string" ? redactor.text(value) : value,
  );
  return JSON.parse(text) as Conventions; // redacting changes only what strings hold
}

function isAccepted(conventions: Conventions): boolean {
  try {
    resolveConventions(conventions);
    return true;
  } catch {
    return false;
  }
}

/** Sections such as `refusals` are merged; everything else is replaced. */
function merge(one: Conventions, other: Conventions): Conventions {
  const left = one as Readonly<Record<string, unknown>>; // read by the keys of `other`
  const entries = Object.entries(other).map(([key, value]: [string, unknown]) => [
    key,
    isRecord(left[key]) && isRecord(value) ? Object.assign({}, left[key], value) : value,
  ]);
  return { ...one, ...(Object.fromEntries(entries) as Conventions) }; // the keys are those of `other`
}
