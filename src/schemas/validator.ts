import * as z from "zod/mini";
import type { ValidationIssue } from "../errors/automation-error.ts";
import { andMore, MAX_ISSUES } from "./foreign-issues.ts";
import { OWN_VENDOR, type StandardSchema } from "./standard-schema.ts";

/** The result of a check: the value, or what is wrong with it. */
export type Checked<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly ValidationIssue[] };

/**
 * Checks that a value has the shape that the service promises. A Standard Schema whose issues never quote a value, and
 * are at most `MAX_ISSUES` and one that says how many there are beyond.
 */
export interface Validator<Output> extends StandardSchema<Output> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: typeof OWN_VENDOR;
    readonly validate: (value: unknown) => Checked<Output> | Promise<Checked<Output>>;
  };
}

/** A validator that only checks synchronously. */
export interface SyncValidator<Output> extends Validator<Output> {
  readonly "~standard": Omit<Validator<Output>["~standard"], "validate"> & {
    readonly validate: (value: unknown) => Checked<Output>;
  };
}

/** Makes a validator of a function. */
export function validator<Output>(validate: Validator<Output>["~standard"]["validate"]): Validator<Output> {
  return { "~standard": { version: 1, vendor: OWN_VENDOR, validate } };
}

/** Makes a validator of a synchronous zod schema. Its output is zod's. */
export function zodValidator<Output>(schema: z.ZodMiniType<Output>): SyncValidator<Output> {
  return { "~standard": { version: 1, vendor: OWN_VENDOR, validate: (value) => checkWithZod(schema, value) } };
}

function checkWithZod<Output>(schema: z.ZodMiniType<Output>, value: unknown): Checked<Output> {
  const result = safeParse(schema, value);
  if (result === undefined) return { issues: [{ path: [], message: "too many issues to list" }] };
  if (result.success) return { value: result.data };
  const { issues } = result.error;
  const listed = issues.slice(0, MAX_ISSUES).map(({ path, message }) => ({ path: path.map(keyOf), message }));
  return { issues: issues.length > MAX_ISSUES ? [...listed, andMore(issues.length - MAX_ISSUES)] : listed };
}

// zod passes issues on as arguments of a call, which exceeds the stack if there are very many.
function safeParse<Output>(
  schema: z.ZodMiniType<Output>,
  value: unknown,
): z.core.util.SafeParseResult<Output> | undefined {
  try {
    return z.safeParse(schema, value, { error: expectationOf });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function keyOf(key: PropertyKey): string | number {
  return typeof key === "symbol" ? String(key) : key;
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
      return issue.origin === "array" ? `expected at most ${issue.maximum} items` : "expected a safe integer";
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

/** The first five issues in one line: `data.0.id: expected string; …`. */
export function describeIssues(issues: readonly ValidationIssue[]): string {
  const shown = issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.length > 0 ? path.join(".") : "body"}: ${message}`);
  return issues.length > 5 ? `${shown.join("; ")}; and ${issues.length - 5} more` : shown.join("; ");
}
