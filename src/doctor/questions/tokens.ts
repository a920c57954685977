import { fieldsOf } from "../../core/checks/values.ts";
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
import { errorOf, idOf, isAbsent, isSuccess, outlineOf, pageOf } from "../reading.ts";
import { CREATED, REVOKED, TOKENS } from "../token-steps.ts";
import { labelOf, type Reply } from "../wire.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const LONGEST_DAYS = 1_000_000;
const NO_TOKEN = "tokens.create() rejects with ResponseValidationError; the plaintext, if there is one, is in rawBody";
const NOT_REVOKED = "tokens.revoke() rejects: a token that leaked goes on working";

function judgeCreation({ created }: Readonly<Record<"created", Reply>>): Finding {
  const { status } = created;
  const seen = outlineOf(created);
  if (status === 401 || status === 403) return unasked(`the token may not create tokens (${seen})`);
  if (!isSuccess(created)) return contradicts(`refused: ${seen}`, `tokens.create() rejects with ${errorOf(status)}`);
  const { id, plaintext } = fieldsOf(created.json);
  const conventions = { successStatus: { "tokens.create": status } };
  const problem = idOf(created.json) === undefined ? "without id" : `with an id that is a ${typeof id}`;
  if (typeof id !== "string") return contradicts(`${seen} ${problem}`, NO_TOKEN, conventions);
  if (typeof plaintext !== "string") return contradicts(`${seen} without plaintext`, NO_TOKEN, conventions);
  return status === 201 ? agrees(seen, conventions) : differs(seen, "nothing: the client takes any 2xx", conventions);
}

function judgeLifetime({ created }: Readonly<Record<"created", Reply>>): Finding {
  if (!isSuccess(created)) return unasked("no token was created");
  const expiresAt = Date.parse(String(fieldsOf(created.json)["expires_at"]));
  const date = Date.parse(created.headers.get("date") ?? "");
  if (Number.isNaN(expiresAt)) return contradicts("expires_at is not a timestamp", NO_TOKEN);
  const lifetimeMs = expiresAt - (Number.isNaN(date) ? created.endedAt : date);
  const tokenLifetimeDays = Math.round(lifetimeMs / DAY_MS);
  const seen = `${tokenLifetimeDays} days`;
  const so = "nothing: the client goes by expires_at; pass expires_in_days where it matters";
  if (tokenLifetimeDays < 1 || tokenLifetimeDays > LONGEST_DAYS) return differs(seen, so);
  return tokenLifetimeDays === 90 ? agrees(seen, { tokenLifetimeDays }) : differs(seen, so, { tokenLifetimeDays });
}

function judgeRevocation({ revoked }: Readonly<Record<"revoked", Reply>>): Finding {
  const { status } = revoked;
  const seen = outlineOf(revoked);
  if (!isSuccess(revoked)) return contradicts(seen, NOT_REVOKED);
  const conventions = { successStatus: { "tokens.revoke": status } };
  return status === 204 ? agrees(seen, conventions) : differs(seen, "nothing: the client takes any 2xx", conventions);
}

function judgeRepetition(_: unknown, { replies }: Seen): Finding {
  const [first] = replies.filter(({ repeatsToken }) => repeatsToken);
  if (first !== undefined) {
    const so = "what logs or stores responses holds a secret; the client redacts its own tokens in errors";
    return contradicts(`a token is in the response to ${labelOf(first.request)}`, so);
  }
  return replies.length === 0 ? unasked("no response") : agrees(`in none of ${replies.length} responses`);
}

function judgeTokenList({ tokens }: Readonly<Record<"tokens", Reply>>): Finding {
  const seen = outlineOf(tokens);
  if (isAbsent(tokens)) return agrees(`no: ${seen}`);
  if (pageOf(tokens) === undefined) return unasked(`not understood: ${seen}`);
  return differs(seen, "paginate() can list tokens; the client has no method for it");
}

/** The life of a token; most of it only with `--write`. */
export const TOKEN_QUESTIONS: readonly Question[] = [
  question({
    id: "token-create",
    question: "Can a token without scopes be created?",
    about: 'the API documentation says "When a token is created with an empty or absent scope set, it can do nothing."',
    assumes: "201, with plaintext",
    asks: { created: CREATED },
    judge: judgeCreation,
  }),
  question({
    id: "token-lifetime",
    question: "How long does a token live by default?",
    about: "the API documentation does not show it; convention tokenLifetimeDays",
    assumes: "90 days",
    asks: { created: CREATED },
    judge: judgeLifetime,
  }),
  question({
    id: "token-revoke",
    question: "Can the token be revoked?",
    about:
      "the API documentation shows DELETE /me/tokens/{id} without a status; convention successStatus.tokens.revoke",
    assumes: "204",
    asks: { revoked: REVOKED },
    judge: judgeRevocation,
  }),
  question({
    id: "plaintext-again",
    question: "Does a response show a token that was shown before?",
    about: 'the API documentation says of plaintext "It is returned only in the creation response and never again."',
    assumes: "never",
    judgesPages: true,
    judge: judgeRepetition,
  }),
  question({
    id: "tokens-list",
    question: "Does GET /me/tokens exist?",
    about: 'the API documentation says "Listing tokens: method and path not shown."',
    assumes: "no",
    asks: { tokens: TOKENS },
    judge: judgeTokenList,
  }),
];
