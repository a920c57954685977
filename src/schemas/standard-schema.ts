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

/** What a Standard Schema says: the value, or what is wrong with it. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One issue of a Standard Schema; a path's member is a key, or an object that holds one. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What the schemas of this package call themselves. */
export const OWN_VENDOR = "project-automation";

/** Whether a value can be used as a Standard Schema. (arktype's are functions.) */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  const standard: unknown = "~standard" in value ? value["~standard"] : undefined;
  return (
    typeof standard === "object" &&
    standard !== null &&
    "validate" in standard &&
    typeof standard.validate === "function"
  );
}

/** Whether a value is valid. What somebody has put on `Object.prototype` is no list of issues. */
export function isValid<Output>(result: StandardResult<Output>): result is { readonly value: Output } {
  const { issues: inherited }: { issues?: unknown } = Object.prototype;
  return result.issues === inherited || result.issues === undefined;
}

/** Whether a schema answers later. */
export function isPromise<Value>(value: Value | Promise<Value>): value is Promise<Value> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
