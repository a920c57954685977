import { closestName } from "../core/checks/hints.ts";
import { INVALID, type Validator, validator } from "../core/checks/validators.ts";
import { SCOPES } from "../service/scopes.ts";
import { TEXTS } from "./checks.ts";

/** Scopes: those of the table, and other names, unless such a name is a misspelt one of the table. */
export const SCOPE_NAMES: Validator<readonly string[]> = validator(
  TEXTS.words,
  (value) => {
    const names = TEXTS.parse(value);
    return names !== INVALID && misspelt(names) === undefined ? names : INVALID;
  },
  (refused) => {
    const names = TEXTS.parse(refused);
    return names === INVALID ? undefined : misspelt(names);
  },
);

function misspelt(names: readonly string[]): string | undefined {
  for (const name of names) {
    const meant = scopeMeant(name);
    if (meant !== undefined) return `: "${name.slice(0, 40)}" is none; did you mean "${meant}"?`;
  }
  return undefined;
}

function scopeMeant(name: string): string | undefined {
  const parts = [0, 1].map((at) => {
    const known = SCOPES.map((scope) => scope.split(":")[at] ?? "");
    const part = name.split(":")[at] ?? "";
    return known.includes(part) ? part : closestName(part, known);
  });
  return parts.includes(undefined) || parts.join(":") === name ? undefined : parts.join(":");
}
