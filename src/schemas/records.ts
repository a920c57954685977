import * as z from "zod/mini";
import type { CreatedToken, Issue, Project, Session, Token } from "../models.ts";
import { integer, nonEmpty, timestamp, visibleAscii } from "./rules.ts";
import { type Validator, zodValidator } from "./validator.ts";

// A shape names what is checked. Other fields pass: a validator hands back the value itself and not zod's copy.
const project = z.object({ id: z.string(), name: z.string() });
const issue = z.object({
  number: z.unknown().check(integer),
  title: z.string(),
  status: z.string(),
  type: z.optional(z.string()),
});
const session = z.object({ id: z.string(), state: z.string() });
const tokenFields = {
  id: z.string(),
  name: z.string(),
  key_id: z.string(),
  scopes: z.array(z.string()),
  expires_at: z.string().check(timestamp),
};
const token = z.object(tokenFields);
const createdToken = z.object({ ...tokenFields, plaintext: z.string().check(nonEmpty) });
/** It is sent in a header. */
const sendable = { plaintext: z.string().check(visibleAscii) };

/** A project as the service sends it. */
export const ProjectSchema: Validator<Project> = zodValidator<Project>(project);

/** An issue as the service sends it. `type` is checked where it is present; the contract shows it in requests only. */
export const IssueSchema: Validator<Issue> = zodValidator<Issue>(issue);

/** A session as the service sends it. */
export const SessionSchema: Validator<Session> = zodValidator<Session>(session);

/** A masked token record. `expires_at` stays a string: an ISO 8601 timestamp with `Z` or an offset. */
export const TokenSchema: Validator<Token> = zodValidator<Token>(token);

/** The answer to a token's creation or rotation: a token record with its `plaintext`. */
export const CreatedTokenSchema: Validator<CreatedToken> = zodValidator<CreatedToken>(createdToken);

/** As `CreatedTokenSchema`, for a replacement that the client is to go on with: its `plaintext` can be sent. */
export const AdoptedTokenSchema: Validator<CreatedToken> = zodValidator<CreatedToken>(
  z.object({ ...tokenFields, ...sendable }),
);

/** The least of an answer from which a client can go on. */
export const SendableTokenSchema: Validator<{ plaintext: string }> = zodValidator<{ plaintext: string }>(
  z.object(sendable),
);
