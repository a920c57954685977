import * as z from "zod/v4-mini";
import type { StandardSchema } from "../../core/call/standard-schema.ts";
import { validatorOf } from "../../core/call/zod-schema.ts";
import { type Page, pageValidatorOf } from "../../core/paging/page.ts";
import type { CreatedToken, Issue, Project, Session } from "../models.ts";
import { CreatedTokenSchema, IssueSchema, ProjectSchema, SessionSchema } from "./records.ts";

export const projectPageValidator: StandardSchema<Page<Project>> = pageValidatorOf<Project>(ProjectSchema);

export const issueValidator: StandardSchema<Issue> = validatorOf<Issue>(IssueSchema);

export const sessionValidator: StandardSchema<Session> = validatorOf<Session>(SessionSchema);

export const sessionPageValidator: StandardSchema<Page<Session>> = pageValidatorOf<Session>(SessionSchema);

export const createdTokenValidator: StandardSchema<CreatedToken> = validatorOf<CreatedToken>(CreatedTokenSchema);

const sendable = { plaintext: z.string().check(z.regex(/^[!-~]+$/)) };

/** As `createdTokenValidator`, for a replacement that the client goes on with: its `plaintext` can be sent. */
export const adoptedTokenValidator: StandardSchema<CreatedToken> = validatorOf<CreatedToken>(
  z.looseObject({ ...CreatedTokenSchema.shape, ...sendable }),
);

/** Validates the least of a response from which a client can go on. */
export const sendableTokenValidator: StandardSchema<{ plaintext: string }> = validatorOf<{ plaintext: string }>(
  z.looseObject(sendable),
);
