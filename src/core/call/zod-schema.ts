import * as z from "zod/v4-mini";
import { type StandardSchema, standard } from "./standard-schema.ts";

/** Other words for zod's names of types, formats, patterns and bounds. */
const EXPECTED: Readonly<Record<string, string>> = {
  string: "a string",
  array: "an array",
  object: "an object",
  datetime: "an ISO 8601 timestamp",
  int: "a safe integer",
  number: "a safe integer",
  "/./": "a non-empty string",
  regex: "visible ASCII without white space",
  too_small: "a safe integer", // the only minimum and maximum in these schemas
  too_big: "a safe integer",
};

/** Fields with a value that says more than their type. */
const EXPECTED_IN: Readonly<Record<string, string>> = {
  next_cursor: "a non-empty string of well-formed Unicode, or null at the end of the list",
};

interface Named {
  readonly code: string;
  readonly format?: string;
  readonly expected?: string;
  readonly pattern?: string;
}

// zod's own wording is a locale, which is not bundled, and might quote the value.
function expectationOf(issue: z.core.$ZodRawIssue): string {
  const { code, format = code, expected = format, pattern = "" } = issue as Named; // some have them
  const words = EXPECTED_IN[String(issue.path?.at(-1))] ?? EXPECTED[pattern] ?? EXPECTED[expected] ?? expected;
  return `must be ${words}, got ${kindOf(issue.input)}`;
}

function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (value === "") return "an empty string";
  if (Array.isArray(value)) return "an array";
  return `${typeof value === "object" ? "an" : "a"} ${typeof value}`;
}

/** A schema of zod as the client uses it: it validates synchronously, with messages that never quote a value. */
export function validatorOf<Output>(schema: z.ZodMiniType<Output>): StandardSchema<Output> {
  return standard((value) => {
    const result = z.safeParse(schema, value, { error: expectationOf });
    return result.success ? { value: result.data, issues: undefined } : { issues: result.error.issues };
  });
}
