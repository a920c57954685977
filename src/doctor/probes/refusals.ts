import { REFUSALS, type RefusalReason } from "../../testing/conventions.ts";
import { agrees, contradicts, differs, type Finding, type Probe, probe, unasked } from "../probe.ts";
import { codeOf, fieldsOf, isObject, isSuccess, outlineOf } from "../reading.ts";
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

/** A request that the service is expected to refuse. */
interface RefusalRow {
  readonly reason: RefusalReason;
  readonly question: string;
  readonly step: Step;
  /** The sentence that a success contradicts; without one it is only a difference. */
  readonly contract?: string;
  /** The same request at a time when it had to be answered otherwise. */
  readonly before?: Step;
}

const ROWS: readonly RefusalRow[] = [
  {
    reason: "missingToken",
    question: "How is a request without a token refused?",
    step: WITHOUT_TOKEN,
    contract: 'contract 5.1: "Every request carries the header `Authorization`"',
  },
  {
    reason: "unknownToken",
    question: "How is a wrong token refused?",
    step: WITH_UNKNOWN_TOKEN,
    contract: 'contract 1: "Callers authenticate with API tokens."',
  },
  {
    reason: "unknownProject",
    question: "How is an unknown project refused?",
    step: UNKNOWN_PROJECT,
    contract: 'contract 2: "a project can be addressed by its name or by its id"',
  },
  {
    reason: "unknownSession",
    question: "How is an unknown session refused?",
    step: UNKNOWN_SESSION,
    contract: "contract 4: GET /sessions/{id} returns the session with this id",
  },
  { reason: "invalidCursor", question: "How is a made-up cursor refused?", step: UNKNOWN_CURSOR },
  { reason: "invalidField", question: "How is a limit refused that is not a number?", step: LIMIT_WORD },
  { reason: "unknownRoute", question: "How is an unknown endpoint refused?", step: UNKNOWN_ENDPOINT },
  { reason: "wrongMethod", question: "How is a wrong method refused?", step: WRONG_METHOD },
  {
    reason: "missingScope",
    question: "How is a token without scopes refused?",
    step: USED,
    contract: 'contract 5.5: "A token with no scopes can do nothing."',
  },
  {
    reason: "revokedToken",
    question: "How is a revoked token refused?",
    step: USED_REVOKED,
    contract: 'contract 5.6: "Revocation takes effect immediately."',
    before: USED,
  },
  { reason: "unknownTokenRecord", question: "How is a second revocation refused?", step: REVOKED_AGAIN },
];

/** Judges a response that should be a refusal for `reason`. */
export function judgeRefusal(reason: RefusalReason, reply: Reply, contract?: string): Finding {
  const { status } = reply;
  const seen = outlineOf(reply);
  if (isSuccess(reply)) return (contract === undefined ? differs : contradicts)(`accepted: ${seen}`);
  if (status < 400) return contradicts(`a redirect: ${seen}`);
  const code = codeOf(reply);
  const conventions = { refusals: { [reason]: { status, ...(code ? { code } : {}) } } };
  if (!code) return contradicts(`${seen}, without an error code`, conventions);
  const usual = REFUSALS[reason];
  return usual.status === status && usual.code === code ? agrees(seen, conventions) : differs(seen, conventions);
}

/** As a refusal, unless the answer is what it was before: then nothing has changed, except where both are 401. */
function judgeChange(finding: Finding, reply: Reply, before: Reply): Finding {
  const isSame = before.status === reply.status && codeOf(before) === codeOf(reply);
  return isSame && reply.status !== 401 ? contradicts(`as before: ${finding.seen}`, finding.conventions) : finding;
}

function refusalProbe({ reason, question, step, contract, before }: RefusalRow): Probe {
  const convention = `convention refusals.${reason}; contract 7.1: "The error code is carried in the \`error\` field"`;
  return probe({
    id: `refusal-${reason.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    question,
    about: contract === undefined ? convention : `${contract}; ${convention}`,
    assumes: `${REFUSALS[reason].status} ${REFUSALS[reason].code}`,
    asks: { reply: step, before: before ?? step },
    judge: (replies) => {
      const finding = judgeRefusal(reason, replies.reply, contract);
      return before === undefined ? finding : judgeChange(finding, replies.reply, replies.before);
    },
  });
}

function judgeErrorFields({ reply }: Readonly<Record<"reply", Reply>>): Finding {
  if (isSuccess(reply) || !isObject(reply.json)) return unasked(`no error body: ${outlineOf(reply)}`);
  const { error: _error, message: _message, ...error } = fieldsOf(reply.json);
  const names = Object.keys(error);
  const conventions = { extraFields: { error } };
  return names.length === 0 ? agrees("none", conventions) : differs(names.join(", "), conventions);
}

/** How the service says no. */
export const REFUSAL_PROBES: readonly Probe[] = [
  ...ROWS.map(refusalProbe),
  probe({
    id: "fields-error",
    question: "Which fields does an error body have beside error and message?",
    about: 'contract 7: "Fields of the error body other than `error`: not shown"; convention extraFields.error',
    assumes: "none",
    asks: { reply: WITHOUT_TOKEN },
    judge: judgeErrorFields,
  }),
];
