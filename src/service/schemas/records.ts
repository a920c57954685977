import * as z from "zod/v4-mini";
import type { CreatedToken, Issue, Project, Session, Token } from "../models.ts";

/**
 * The shape of a schema for a model: one schema for each of its fields, no more and no fewer, each with that field's
 * type. A schema that disagrees with its model does not compile.
 */
export type Fields<Model> = { readonly [Field in keyof Model]-?: z.ZodMiniType<Model[Field]> };

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
