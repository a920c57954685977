import { isRecord } from "../core/checks/values.ts";
import { isWord } from "./reading.ts";

const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/, "2026-01-01T00:00:00Z"],
  [/^\d{4}-\d\d-\d\d$/, "2026-01-01"],
  [/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i, "00000000-0000-4000-8000-000000000000"],
  [/^[a-z][a-z\d+.-]*:\/\//i, "https://example.com/"],
  [/^[^\s@]+@[^\s@]+\.[^\s@]+$/, "someone@example.com"],
  [/^$/, ""],
];

/** A placeholder of the same type, which a file has in place of the value of a record. */
export function placeholderOf(value: unknown): unknown {
  if (typeof value === "string") return SPELLINGS.find(([spelling]) => spelling.test(value))?.[1] ?? "text";
  if (typeof value === "number") return Number.isInteger(value) ? 1 : 1.5;
  if (typeof value === "boolean") return true;
  if (value === null || value === undefined) return null;
  // The number of items would say something, too.
  if (Array.isArray(value)) return value.slice(0, 1).map(placeholderOf);
  // The keys of a table may be ids or names; those of a record are words.
  const fields = Object.entries(value).filter(([name]) => isRecord(value) && isWord(name));
  return Object.fromEntries(fields.map(([name, field]) => [name, placeholderOf(field)]));
}
