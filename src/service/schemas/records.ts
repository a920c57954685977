import * as z from "zod/v4-mini";
import type { Fields } from "../../core/call/zod-schema.ts";
import type { CreatedToken, Issue, Project, Session, Token } from "../models.ts";

// `z.iso.datetime({ offset: true })` returns the same. The object `z.iso` would bring the formats that are not used into each
// bundle, 400 bytes of it.
const timestamp = new z.ZodMiniISODateTime({
  type: "string",
  format: "datetime",
  check: "string_format",
  offset: true,
  local: false,
  precision: null,
});

const tokenFields = {
  id: z.string(),
  name: z.string(),
  key_id: z.string(),
  scopes: z.array(z.string()),
  expires_at: timestamp,
} satisfies Fields<Token>;

// The type that zod gives it has another name in earlier versions of zod, with which the declarations have to agree.
const safeInteger: z.ZodMiniNumber<number> = z.int();

/** A project as the service sends it. */
export const ProjectSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
} satisfies Fields<Project>);

/** An issue as the service sends it. `type` is checked if it is present; the API documentation shows it in requests only. */
export const IssueSchema = z.looseObject({
  number: safeInteger,
  title: z.string(),
  status: z.string(),
  type: z.optional(z.string()),
} satisfies Fields<Issue>);

/** A session as the service sends it. */
export const SessionSchema = z.looseObject({
  id: z.string(),
  state: z.string(),
} satisfies Fields<Session>);

/** A masked token record. `expires_at` stays a string: an ISO 8601 timestamp with `Z` or an offset. */
export const TokenSchema = z.looseObject(tokenFields);

/** The response to a token's creation or rotation: a token record with its `plaintext`. */
export const CreatedTokenSchema = z.looseObject({
  ...tokenFields,
  plaintext: z.string().check(z.regex(/./)),
} satisfies Fields<CreatedToken>);

/** The cursor of the next page: a non-empty string, or `null` on the last page and nowhere else (API documentation, section 2). */
const nextCursor = z.nullable(
  z.string().check(z.regex(/^\P{Surrogate}+$/u)), // a lone surrogate has no UTF-8, so it could not be sent back
);

/**
 * The list envelope around items of a zod schema: `{ data, next_cursor }`.
 *
 * @example
 * const page = pageOf(ProjectSchema).parse(JSON.parse(text));
 */
export function pageOf<Item extends z.core.SomeType>(item: Item) {
  return z.looseObject({ data: z.array(item), next_cursor: nextCursor });
}
