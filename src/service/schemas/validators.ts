import * as z from "zod/v4-mini";
import type { StandardSchema } from "../../core/call/standard-schema.ts";
import { custom, type Fields, matching, validatorOf } from "../../core/call/zod-schema.ts";
import { type Page, pageValidatorOf } from "../../core/paging/page.ts";
import type { CreatedToken, Issue, Project, Session } from "../models.ts";

// The client's own checks accept what the published schemas accept, which a test compares.

const DATE_TIME =
  /^(\d{4}-\d\d-(\d\d))T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Returns whether a text is a timestamp of a day that there is: `Date` takes the 30th of February for one in March. */
function isTimestamp(value: unknown): boolean {
  const [, date = "", day] = (typeof value === "string" && DATE_TIME.exec(value)) || [];
  return new Date(date).getUTCDate() === Number(day);
}

const text: z.ZodMiniType<string> = z.string();

const createdToken = {
  id: text,
  name: text,
  key_id: text,
  scopes: z.array(text),
  expires_at: custom<string>("an ISO 8601 timestamp", isTimestamp),
  plaintext: matching("a non-empty string", /./),
} satisfies Fields<CreatedToken>;

const sendable = { plaintext: matching("visible ASCII without white space", /^[!-~]+$/) };

export const projectPageValidator: StandardSchema<Page<Project>> = pageValidatorOf(
  z.object({ id: text, name: text } satisfies Fields<Project>),
);

export const issueValidator: StandardSchema<Issue> = validatorOf(
  z.object({
    number: custom<number>("a safe integer", Number.isSafeInteger),
    title: text,
    status: text,
    type: z.optional(text),
  } satisfies Fields<Issue>),
);

const session = z.object({ id: text, state: text } satisfies Fields<Session>);

export const sessionValidator: StandardSchema<Session> = validatorOf(session);

export const sessionPageValidator: StandardSchema<Page<Session>> = pageValidatorOf(session);

export const createdTokenValidator: StandardSchema<CreatedToken> = validatorOf(z.object(createdToken));

/** As `createdTokenValidator`, for a replacement that the client goes on with: its `plaintext` can be sent. */
export const adoptedTokenValidator: StandardSchema<CreatedToken> = validatorOf(
  z.object({ ...createdToken, ...sendable }),
);

/** Validates the least of a response from which a client can go on. */
export const sendableTokenValidator: StandardSchema<{ plaintext: string }> = validatorOf(z.object(sendable));
