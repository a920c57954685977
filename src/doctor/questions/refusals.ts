import { fieldsOf } from "../../core/checks/values.ts";
import { REFUSALS, type RefusalReason } from "../../emulator/conventions.ts";
import {
  agrees,
  contradicts,
  differs,
  type Finding,
  type Question,
  question,
  type Seen,
  unasked,
} from "../question.ts";
import { codeOf, errorOf, isSuccess, outlineOf } from "../reading.ts";
import type { Step } from "../step.ts";
import {
  LIMIT_WORD,
  UNKNOWN_CURSOR,
  UNKNOWN_ENDPOINT,
  UNKNOWN_PROJECT,
  UNKNOWN_SESSION,
  WITH_UNKNOWN_TOKEN,
  WITHOUT_TOKEN,
  WRONG_METHOD,
} from "../steps.ts";
import { REVOKED_AGAIN, USED, USED_REVOKED } from "../token-steps.ts";
import type { Reply } from "../wire.ts";

interface RefusalRow {
  readonly reason: RefusalReason;
  readonly question: string;
  readonly step: Step;
  /** The sentence of the API documentation that a success contradicts; without one, a success is only a difference. */
  readonly statement?: string;
  /** The consequence of a success for the client. */
  readonly accepted: string;
}

const ROWS: readonly RefusalRow[] = [
  {
    reason: "missingToken",
    question: "How is a request without a token refused?",
    step: WITHOUT_TOKEN,
    statement: 'the API documentation says "Every request carries the header `Authorization`"',
    accepted: "everyone who can reach the address can read its data; a missing token is not noticed",
  },
  {
    reason: "unknownToken",
    question: "How is a wrong token refused?",
    step: WITH_UNKNOWN_TOKEN,
    statement: 'the API documentation says "Callers authenticate with API tokens."',
    accepted: "a wrong, expired or revoked token is not noticed, and providers are never asked for another",
  },
  {
    reason: "unknownProject",
    question: "How is an unknown project refused?",
    step: UNKNOWN_PROJECT,
    statement: 'the API documentation says "a project can be addressed by its name or by its id"',
    accepted: "a misspelt project is not noticed",
  },
  {
    reason: "unknownSession",
    question: "How is an unknown session refused?",
    step: UNKNOWN_SESSION,
    statement: "the API documentation says that GET /sessions/{id} returns the session with this id",
    accepted: "a misspelt session is not noticed, and waitFor() waits for it",
  },
  {
    reason: "invalidCursor",
    question: "How is a made-up cursor refused?",
    step: UNKNOWN_CURSOR,
    accepted: "a walk that is resumed with a damaged cursor may start over, unnoticed",
  },
  {
    reason: "invalidField",
    question: "How is a limit refused that is not a number?",
    step: LIMIT_WORD,
    accepted: "nothing: the client sends whole numbers only",
  },
  {
    reason: "unknownRoute",
    question: "How is an unknown endpoint refused?",
    step: UNKNOWN_ENDPOINT,
    accepted: "a wrong path given to request() is not noticed",
  },
  {
    reason: "wrongMethod",
    question: "How is a wrong method refused?",
    step: WRONG_METHOD,
    accepted: "a wrong method given to request() is not noticed",
  },
  {
    reason: "missingScope",
    question: "How is a token without scopes refused?",
    step: USED,
    statement: 'the API documentation says "A token with no scopes can do nothing."',
    accepted: "a token without scopes can read",
  },
  {
    reason: "revokedToken",
    question: "How is a revoked token refused?",
    step: USED_REVOKED,
    statement: 'the API documentation says "Revocation takes effect immediately."',
    accepted: "a token that was revoked goes on working",
  },
  {
    reason: "unknownTokenRecord",
    question: "How is a second revocation refused?",
    step: REVOKED_AGAIN,
    accepted: "nothing: tokens.revoke() takes any 2xx",
  },
];

/** Refusals that say that the token is not valid. */
const ABOUT_TOKEN: readonly RefusalReason[] = ["missingToken", "unknownToken", "expiredToken", "revokedToken"];

/** The consequence for the client of an unusual status, an unusual code, or no code. */
function consequenceOf(reason: RefusalReason, status: number, code: string | undefined): string {
  const [usual, actual] = [errorOf(REFUSALS[reason].status), errorOf(status)];
  const difference = code ? "only error.code or error.status is another" : "error.code is missing";
  if (usual === actual) return `${difference}: the class is ${actual} all the same`;
  const renewal = ABOUT_TOKEN.includes(reason) ? "; a token provider is not asked for another token" : "";
  return `the call rejects with ${actual}, not ${usual}${renewal}`;
}

export function judgeRefusal(reason: RefusalReason, reply: Reply): Finding {
  const { status } = reply;
  const seen = outlineOf(reply);
  const code = codeOf(reply);
  const so = consequenceOf(reason, status, code);
  const conventions = { refusals: { [reason]: { status, ...(code ? { code } : {}) } } };
  if (!code) return contradicts(`${seen}, without an error code`, so, conventions);
  const usual = REFUSALS[reason];
  return usual.status === status && usual.code === code ? agrees(seen, conventions) : differs(seen, so, conventions);
}

function judgeRow({ reason, statement, accepted }: RefusalRow, reply: Reply): Finding {
  if (!isSuccess(reply)) return judgeRefusal(reason, reply);
  return (statement === undefined ? differs : contradicts)(`accepted: ${outlineOf(reply)}`, accepted);
}

/** True if the refusal may be about a scope: no response of the run shows that the token may read sessions. */
function mayLackScope({ step }: RefusalRow, { status }: Reply, { replies }: Seen): boolean {
  if (status !== 403 || (step !== UNKNOWN_PROJECT && step !== UNKNOWN_SESSION)) return false;
  return !replies.some((one) => isSuccess(one) && one.request.path.includes("/sessions"));
}

function refusalQuestion(row: RefusalRow): Question {
  const { reason, question: text, step, statement } = row;
  const convention = `convention refusals.${reason}; the API documentation says "The error code is carried in the \`error\` field"`;
  return question({
    id: `refusal-${reason.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    question: text,
    about: statement === undefined ? convention : `${statement}; ${convention}`,
    assumes: `${REFUSALS[reason].status} ${REFUSALS[reason].code}`,
    asks: { reply: step },
    judge: (replies, seen) =>
      mayLackScope(row, replies.reply, seen)
        ? unasked(`the token or its owner may lack sessions:read (${outlineOf(replies.reply)})`)
        : judgeRow(row, replies.reply),
  });
}

function judgeErrorFields({ reply }: Readonly<Record<"reply", Reply>>): Finding {
  if (isSuccess(reply)) return unasked(`no error body: ${outlineOf(reply)}`);
  const { error: _error, message: _message, ...error } = fieldsOf(reply.json);
  const names = Object.keys(error);
  const conventions = { extraFields: { error } };
  if (names.length === 0) return agrees("none", conventions);
  return differs(names.join(", "), "nothing: error.body holds them, without secrets", conventions);
}

export const REFUSAL_QUESTIONS: readonly Question[] = [
  ...ROWS.map(refusalQuestion),
  question({
    id: "fields-error",
    question: "Which fields does an error body have beside error and message?",
    about: "the API documentation shows `error` alone; convention extraFields.error",
    assumes: "none",
    asks: { reply: WITHOUT_TOKEN },
    judge: judgeErrorFields,
  }),
];
