import * as z from "zod/v4-mini";
import { hasMethods, isPromise } from "../checks/values.ts";
import type { CreatedToken, Issue, Page, Project, Session } from "../models.ts";
import { CreatedTokenSchema, IssueSchema, ProjectSchema, pageOf, SessionSchema } from "./records.ts";

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

/** The vendor of this package's schemas. */
export const OWN_VENDOR = "project-automation";

/** Returns whether a value can be used as a Standard Schema. (arktype's are functions.) */
export function isStandardSchema(value: unknown): value is StandardSchema {
  const { "~standard": standard } = Object(value) as Partial<StandardSchema>; // any value can be asked
  return hasMethods(standard, "validate");
}

/** `true` for a value that is valid. */
export function isValid<Output>(result: StandardResult<Output>): result is { readonly value: Output } {
  return result.issues === undefined;
}

/** Items that a page may have; the service sends at most 200. */
const MAX_ITEMS = 10_000;

/** Other words for zod's names of types, formats and bounds. */
const EXPECTED: Readonly<Record<string, string>> = {
  string: "a string",
  array: "an array",
  object: "an object",
  datetime: "an ISO 8601 timestamp",
  int: "a safe integer",
  number: "a safe integer",
  regex: "visible ASCII without white space",
  too_small: "a non-empty string", // the only minimum in these schemas
  too_big: "a safe integer", // the only maximum
};

/** Fields with a value that says more than their type. */
const EXPECTED_IN: Readonly<Record<string, string>> = {
  next_cursor: "a non-empty string, or null at the end of the list",
};

// zod's own wording is a locale, which is not bundled, and might quote the value.
function expectationOf(issue: z.core.$ZodRawIssue): string {
  const { code, format = code, expected = format } = issue as { code: string; format?: string; expected?: string }; // some have them
  const words = EXPECTED_IN[String(issue.path?.at(-1))] ?? EXPECTED[expected] ?? expected;
  return `expected ${words}, got ${kindOf(issue.input)}`;
}

/** A value of a response by its kind alone. */
function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (value === "") return "an empty string";
  if (Array.isArray(value)) return "an array";
  return `${typeof value === "object" ? "an" : "a"} ${typeof value}`;
}

function standard<Output>(
  validate: StandardSchema<Output>["~standard"]["validate"],
  vendor: string = OWN_VENDOR,
): StandardSchema<Output> {
  return { "~standard": { version: 1, vendor, validate } };
}

/** A schema of zod as the client uses it: it validates synchronously, with messages that never quote a value. */
export function validatorOf<Output>(schema: z.ZodMiniType<Output>): StandardSchema<Output> {
  return standard((value) => {
    const result = z.safeParse(schema, value, { error: expectationOf });
    return result.success ? { value: result.data, issues: undefined } : { issues: result.error.issues };
  });
}

/** As `validatorOf`, for a page. Validating a million items would block the process, so they are counted before. */
function pageValidatorOf<Item>(record: z.ZodMiniType<Item>): StandardSchema<Page<Item>> {
  const { validate } = validatorOf(pageOf(record))["~standard"];
  return standard((value) => {
    const { data } = Object(value) as { data?: unknown }; // any value can be asked
    const isTooLong = Array.isArray(data) && data.length > MAX_ITEMS;
    return isTooLong
      ? { issues: [{ path: ["data"], message: `expected at most ${MAX_ITEMS} items` }] }
      : validate(value);
  });
}

/** Validates a page of projects. */
export const projectPageValidator: StandardSchema<Page<Project>> = pageValidatorOf<Project>(ProjectSchema);

/** Validates an issue. */
export const issueValidator: StandardSchema<Issue> = validatorOf<Issue>(IssueSchema);

/** Validates a session. */
export const sessionValidator: StandardSchema<Session> = validatorOf<Session>(SessionSchema);

/** Validates a page of sessions. */
export const sessionPageValidator: StandardSchema<Page<Session>> = pageValidatorOf<Session>(SessionSchema);

/** Validates the response to a token's creation or rotation. */
export const createdTokenValidator: StandardSchema<CreatedToken> = validatorOf<CreatedToken>(CreatedTokenSchema);

/** A token that can be sent in a header. */
const sendable = { plaintext: z.string().check(z.regex(/^[!-~]+$/)) };

/** As `createdTokenValidator`, for a replacement that the client goes on with: its `plaintext` can be sent. */
export const adoptedTokenValidator: StandardSchema<CreatedToken> = validatorOf<CreatedToken>(
  z.looseObject({ ...CreatedTokenSchema.shape, ...sendable }),
);

/** Validates the least of a response from which a client can go on. */
export const sendableTokenValidator: StandardSchema<{ plaintext: string }> = validatorOf<{ plaintext: string }>(
  z.looseObject(sendable),
);

/** Takes anything. It belongs to no library, and the doctor knows nothing of what it is used for. */
export const anyValidator: StandardSchema = standard((value) => ({ value, issues: undefined }), "any");

/** Validates the list envelope alone, whatever its items are. */
export const pageEnvelopeValidator: StandardSchema<Page<unknown>> = pageValidatorOf(z.unknown());

/** Validates a page whose items are validated by a schema of any library, one after the other. */
export function pageValidator<Item>(item: StandardSchema<Item>): StandardSchema<Page<Item>> {
  const { vendor } = item["~standard"];
  return standard(async (value) => {
    const page = await pageEnvelopeValidator["~standard"].validate(value);
    if (!isValid(page)) return page;
    const data: Item[] = [];
    const issues: StandardIssue[] = [];
    for (const [index, received] of page.value.data.entries()) {
      const validated = item["~standard"].validate(received);
      const result = isPromise(validated) ? await validated : validated;
      if (isValid(result)) data.push(result.value);
      else for (const { path = [], message } of result.issues) issues.push({ path: ["data", index, ...path], message });
    }
    // A schema may refuse an item without an issue.
    const isWhole = data.length === page.value.data.length;
    return isWhole ? { value: { ...page.value, data }, issues: undefined } : { issues };
  }, vendor);
}
