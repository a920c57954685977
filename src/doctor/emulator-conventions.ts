import { isRecord } from "../core/checks/values.ts";
import type { Redactor } from "../core/secrets/redact.ts";
import type { Conventions, ExtendedRecord, Fields } from "../emulator/conventions.ts";
import { resolveConventions } from "../emulator/resolve-conventions.ts";
import { placeholderOf } from "./placeholder.ts";
import type { Finding } from "./question.ts";
import { isWord } from "./reading.ts";

export interface EmulatorSeed {
  /** The deployment, and the day. */
  readonly conventionsOf: string;
  readonly conventions: Conventions;
}

export type Cleaning = (conventions: Conventions) => Conventions;

/** Leaves no value of a record, apart from the words for states. */
export const withoutValues: Cleaning = ({ sessionState, issueStatus, ...conventions }) => ({
  ...ofRecords(conventions, (fields) => placeholderOf(fields) as Fields), // of an object it is an object
  ...(sessionState !== undefined && isWord(sessionState) && { sessionState }),
  ...(issueStatus !== undefined && isWord(issueStatus) && { issueStatus }),
});

/** Leaves the values of records, apart from what is a secret by its name. */
export function withValues(redactor: Redactor): Cleaning {
  return (conventions) => ofRecords(conventions, (fields) => redactor.json(fields) as Fields); // an object stays one
}

/** The values of fields that the API documentation does not show are the only ones that come from records, states aside. */
function ofRecords(conventions: Conventions, clean: (fields: Fields) => Fields): Conventions {
  if (conventions.extraFields === undefined) return conventions;
  const records = Object.entries(conventions.extraFields) as [ExtendedRecord, Fields][]; // the type's own keys
  return { ...conventions, extraFields: Object.fromEntries(records.map(([name, fields]) => [name, clean(fields)])) };
}

/** The conventions of all findings together, without secrets and without those that the emulator would refuse. */
export function conventionsOf(findings: readonly Finding[], clean: Cleaning, redactor: Redactor): Conventions {
  const accepted = findings.flatMap(({ conventions = {} }) => {
    const cleaned = clean(conventions);
    return isAccepted(cleaned) ? [cleaned] : [];
  });
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
