import * as z from "zod/v4-mini";
import type { CreatedToken, Issue, Page, Project, Session } from "../models.ts";
import { CreatedTokenSchema, IssueSchema, ProjectSchema, pageOf, SessionSchema } from "./records.ts";
import {
  isPromise,
  isValid,
  OWN_VENDOR,
  type StandardIssue,
  type StandardResult,
  type StandardSchema,
} from "./standard-schema.ts";

/** Items that a page may have; the service sends at most 200. */
const MAX_ITEMS = 10_000;

/** zod's names of types, formats and bounds in other words; those that are missing say enough. */
const EXPECTED: Readonly<Record<string, string>> = {
  datetime: "an ISO 8601 timestamp",
  int: "a safe integer",
  number: "a safe integer",
  regex: "visible ASCII without white space",
  too_small: "a non-empty string", // the only minimum in these schemas
  too_big: "a safe integer", // the only maximum
};

// zod's own wording is a locale, which is not bundled, and might quote the value.
function expectationOf(issue: z.core.$ZodRawIssue): string {
  const { code, format = code, expected = format } = issue as { code: string; format?: string; expected?: string }; // some have them
  return `expected ${EXPECTED[expected] ?? expected}`;
}

/** Validates with a schema of zod: synchronously, and with messages that never quote a value. */
function validate<Output>(schema: z.ZodMiniType<Output>, value: unknown): StandardResult<Output> {
  const result = z.safeParse(schema, value, { error: expectationOf });
  return result.success ? { value: result.data, issues: undefined } : { issues: result.error.issues };
}

// Validating a million items would block the process, so they are counted before.
function validatePage<Item>(page: z.ZodMiniType<Page<Item>>, value: unknown): StandardResult<Page<Item>> {
  const { data } = Object(value) as { data?: unknown }; // any value can be asked
  const isTooLong = Array.isArray(data) && data.length > MAX_ITEMS;
  return isTooLong
    ? { issues: [{ path: ["data"], message: `expected at most ${MAX_ITEMS} items` }] }
    : validate(page, value);
}

function standard<Output>(
  validation: StandardSchema<Output>["~standard"]["validate"],
  vendor: string = OWN_VENDOR,
): StandardSchema<Output> {
  return { "~standard": { version: 1, vendor, validate: validation } };
}

/** A schema of zod as the client uses it. */
export function validatorOf<Output>(schema: z.ZodMiniType<Output>): StandardSchema<Output> {
  return standard((value) => validate(schema, value));
}

function pageValidatorOf<Item>(record: z.ZodMiniType<Item>): StandardSchema<Page<Item>> {
  const page = pageOf(record);
  return standard((value) => validatePage<Item>(page, value));
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

const envelope = pageOf(z.unknown());

/** Validates the list envelope alone, whatever its items are. */
export const pageEnvelopeValidator: StandardSchema<Page<unknown>> = standard((value) => validatePage(envelope, value));

/** Validates a page whose items are validated by a schema of any library, one after the other. */
export function pageValidator<Item>(item: StandardSchema<Item>): StandardSchema<Page<Item>> {
  const { vendor } = item["~standard"];
  return standard(async (value) => {
    const page = validatePage<unknown>(envelope, value);
    if (!isValid(page)) return page;
    const data: Item[] = [];
    const issues: StandardIssue[] = [];
    for (const [index, received] of page.value.data.entries()) {
      const validated = item["~standard"].validate(received);
      const result = isPromise(validated) ? await validated : validated;
      if (isValid(result)) data.push(result.value);
      else for (const { path = [], message } of result.issues) issues.push({ path: ["data", index, ...path], message });
    }
    return issues.length > 0 ? { issues } : { value: { ...page.value, data }, issues: undefined };
  }, vendor);
}
