import type { Redactor } from "../request/redact.ts";
import type { Conventions, ExtendedRecord, Fields } from "../testing/conventions.ts";
import { resolveConventions } from "../testing/resolve-conventions.ts";
import type { Finding } from "./probe.ts";
import { isObject } from "./reading.ts";

/** What `createEmulator` and `--seed` take. */
export interface EmulatorSeed {
  readonly conventions: Conventions;
}

/** What all findings together tell the emulator, without secrets. What it would refuse is left out. */
export function seedOf(findings: readonly Finding[], redactor: Redactor): EmulatorSeed {
  const accepted = findings.flatMap(({ conventions = {} }) => {
    const clean = withoutSecrets(conventions, redactor);
    return isAccepted(clean) ? [clean] : [];
  });
  const text = JSON.stringify(accepted.reduce<Conventions>(merge, {}));
  return { conventions: JSON.parse(redactor.text(text)) as Conventions }; // redacting changes only what strings hold
}

/** The values of fields that the contract does not show are the only ones that come from records. */
function withoutSecrets(conventions: Conventions, redactor: Redactor): Conventions {
  if (conventions.extraFields === undefined) return conventions;
  const records = Object.entries(conventions.extraFields) as [ExtendedRecord, Fields][]; // the type's own keys
  // Redacting keeps an object an object.
  const extraFields = Object.fromEntries(records.map(([name, fields]) => [name, redactor.json(fields) as Fields]));
  return { ...conventions, extraFields };
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
    isObject(left[key]) && isObject(value) ? Object.assign({}, left[key], value) : value,
  ]);
  return { ...one, ...(Object.fromEntries(entries) as Conventions) }; // the keys are those of `other`
}
