import * as z from "zod/mini";
import type { ValidationIssue } from "../errors/automation-error.ts";
import { ResponseValidationError } from "../errors/client-errors.ts";
import { glanceOf } from "./glance.ts";
import { isPromise, OWN_VENDOR, type StandardSchema } from "./standard-schema.ts";

/** What a check finds: the value, or what is wrong with it. */
export type Checked<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly ValidationIssue[] };

/** What `safeParse` answers. */
export type SafeParseResult<Output> =
  | { readonly success: true; readonly data: Output }
  | { readonly success: false; readonly error: ResponseValidationError };

/**
 * Checks that a value has the shape the service promises; a Standard Schema. What passes is handed back as it is: fields
 * that are not known stay where they are, at every level.
 */
export interface Validator<Output> extends StandardSchema<Output> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "project-automation";
    readonly validate: (value: unknown) => Checked<Output> | Promise<Checked<Output>>;
  };
  /** The value itself, or throws `ResponseValidationError` with paths and expectations, never values. */
  parse(value: unknown): Output;
  /** As `parse`, without throwing. */
  safeParse(value: unknown): SafeParseResult<Output>;
}

/** A validator from a check. Only one that can be told at once can be used with `parse` and `safeParse`. */
export function validator<Output>(
  check: (value: unknown) => Checked<Output> | Promise<Checked<Output>>,
): Validator<Output> {
  const safeParse = (value: unknown): SafeParseResult<Output> => {
    const checked = check(value);
    if (isPromise(checked)) {
      checked.catch(() => {});
      const message = "a schema in it is asynchronous: use its ~standard.validate and await the result";
      return { success: false, error: new ResponseValidationError(message) };
    }
    if (checked.issues === undefined) return { success: true, data: checked.value };
    const { issues } = checked;
    return { success: false, error: new ResponseValidationError(describeIssues(issues), { issues }) };
  };
  return {
    "~standard": { version: 1, vendor: OWN_VENDOR, validate: check },
    safeParse,
    parse(value) {
      const result = safeParse(value);
      if (!result.success) throw result.error;
      return result.data;
    },
  };
}

/** A validator from a zod schema, which must only check and not transform. */
export function zodValidator<Output>(schema: z.ZodMiniType<unknown>): Validator<Output> {
  const fits = glanceOf(schema);
  return validator((value) => {
    // The value itself and not zod's copy of it: the schema says that it is an Output.
    if (fits(value)) return { value: value as Output };
    const result = z.safeParse(schema, value);
    return result.success ? { value: value as Output } : { issues: result.error.issues.map(toValidationIssue) };
  });
}

// zod's own wording is a locale, which is not bundled, and might quote the value.
function toValidationIssue(issue: z.core.$ZodIssue): ValidationIssue {
  return {
    path: issue.path.map((key) => (typeof key === "symbol" ? String(key) : key)),
    message: issue.code === "invalid_type" ? `expected ${issue.expected}` : "not as expected",
  };
}

/** The first five issues in one line: `data.0.id: expected string; …`. */
export function describeIssues(issues: readonly ValidationIssue[]): string {
  const shown = issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.length > 0 ? path.join(".") : "body"}: ${message}`);
  return issues.length > 5 ? `${shown.join("; ")}; and ${issues.length - 5} more` : shown.join("; ");
}
