import { fieldsOf, hasMethods } from "../checks/values.ts";

/**
 * The Standard Schema interface, version 1 (https://standardschema.dev): what zod, valibot, arktype and others share,
 * and all that this library asks of a schema.
 */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** The result of a Standard Schema: the value, or its issues. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One issue of a Standard Schema; a path's member is a key, or an object that holds one. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export const OWN_VENDOR = "project-automation";

/** Returns whether a value can be used as a Standard Schema. (arktype's are functions.) */
export function isStandardSchema(value: unknown): value is StandardSchema {
  const { "~standard": standard } = fieldsOf(value);
  return hasMethods(standard, "validate");
}

export function standard<Output>(
  validate: StandardSchema<Output>["~standard"]["validate"],
  vendor: string = OWN_VENDOR,
): StandardSchema<Output> {
  return { "~standard": { version: 1, vendor, validate } };
}

/** Takes anything. It belongs to no library, and the doctor knows nothing of what it is used for. */
export const anyValidator: StandardSchema = standard((value) => ({ value, issues: undefined }), "any");
