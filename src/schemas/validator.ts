import * as z from "zod/v4-mini";
import { OWN_VENDOR, type StandardResult, type StandardSchema } from "./standard-schema.ts";

/** A schema of zod as the client uses it: synchronous, and with messages that never quote a value. */
export function validatorOf<Output>(schema: z.ZodMiniType<Output>): StandardSchema<Output> {
  return { "~standard": { version: 1, vendor: OWN_VENDOR, validate: (value) => validate(schema, value) } };
}

/** Validates with a schema of zod, as a Standard Schema does. */
export function validate<Output>(schema: z.ZodMiniType<Output>, value: unknown): StandardResult<Output> {
  const result = z.safeParse(schema, value, { error: expectationOf });
  return result.success ? { value: result.data, issues: undefined } : { issues: result.error.issues };
}

// zod's own wording is a locale, which is not bundled, and might quote the value.
function expectationOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `expected ${EXPECTED[issue.expected] ?? issue.expected}`;
    case "invalid_format":
      return `expected ${EXPECTED[issue.format] ?? issue.format}`;
    case "too_small":
      return "expected a non-empty string"; // the only minimum in these schemas
    case "too_big":
      return "expected a safe integer"; // the only maximum
    default:
      return "not as expected";
  }
}

/** zod's names of types and formats, where other words say more. */
const EXPECTED: Readonly<Record<string, string>> = {
  datetime: "an ISO 8601 timestamp",
  int: "a safe integer",
  number: "a safe integer",
  regex: "visible ASCII without white space",
};
