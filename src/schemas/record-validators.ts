import * as z from "zod/mini";
import type { CreatedToken, Issue, Project, Session } from "../models.ts";
import { CreatedTokenSchema, IssueSchema, ProjectSchema, SessionSchema } from "./records.ts";
import { type Validator, zodValidator } from "./validator.ts";

/** Validates a project. */
export const projectValidator: Validator<Project> = zodValidator<Project>(ProjectSchema);

/** Validates an issue. */
export const issueValidator: Validator<Issue> = zodValidator<Issue>(IssueSchema);

/** Validates a session. */
export const sessionValidator: Validator<Session> = zodValidator<Session>(SessionSchema);

/** Validates the response to a token's creation or rotation. */
export const createdTokenValidator: Validator<CreatedToken> = zodValidator<CreatedToken>(CreatedTokenSchema);

/** A token that can be sent in a header. */
const sendable = { plaintext: z.string().check(z.regex(/^[!-~]+$/)) };

/** As `createdTokenValidator`, for a replacement that the client goes on with: its `plaintext` can be sent. */
export const adoptedTokenValidator: Validator<CreatedToken> = zodValidator<CreatedToken>(
  z.looseObject({ ...CreatedTokenSchema.shape, ...sendable }),
);

/** Validates the least of a response from which a client can go on. */
export const sendableTokenValidator: Validator<{ plaintext: string }> = zodValidator<{ plaintext: string }>(
  z.looseObject(sendable),
);
