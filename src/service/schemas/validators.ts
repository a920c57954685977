import * as z from "zod/v4-mini";
import type { StandardSchema } from "../../core/call/standard-schema.ts";
import { validatorOf } from "../../core/call/zod-schema.ts";
import { type Page, pageValidatorOf } from "../../core/paging/page.ts";
import type { CreatedToken, Issue, Project, Session } from "../models.ts";
import { CreatedTokenSchema, IssueSchema, ProjectSchema, SessionSchema } from "./records.ts";

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
