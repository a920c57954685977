import { isRefusalOfService } from "../../core/call/outcome.ts";
import { fieldsOf } from "../../core/checks/values.ts";
import { agrees, contradicts, type Finding, type Question, question, type Seen, unasked } from "../question.ts";
import { codeOf, isSuccess, outlineOf } from "../reading.ts";
import { DECODED_SLASH, ENCODED_SLASH, UNKNOWN_SESSION, withoutMadeUp } from "../steps.ts";
import { labelOf, type Reply } from "../wire.ts";
import { rateLimitName } from "./headers.ts";

/** Tells the service by the headers of its limit: a proxy that answers in its place has none. */
function judgePage(_: unknown, { replies }: Seen): Finding {
  const roles = ["limit", "remaining"] as const;
  const carries = ({ headers }: Reply): boolean => roles.some((role) => rateLimitName(headers, role) !== undefined);
  const successes = replies.filter(isSuccess);
  if (successes.length === 0) return unasked("no request succeeded");
  const pages = successes.filter((reply) => !carries(reply));
  const [first] = pages;
  if (first === undefined) return agrees(`no: each of ${successes.length} has the rate limit headers`);
  if (!replies.some(carries)) return unasked("no response has the rate limit headers, by which to tell");
  return contradicts(
    `${pages.length} of ${successes.length} without the rate limit headers (${labelOf(first.request)} answered ${outlineOf(first)})`,
    "a proxy may answer in place of the service: an empty 2xx makes tokens.revoke() resolve, and the token may live",
  );
}

/** The content of a refusal: its status and code, and its message, which tells apart refusals of the same code. */
const CONTENTS: readonly ((reply: Reply) => string)[] = [
  ({ status, json }) => JSON.stringify([status, fieldsOf(json)["error"]]),
  ({ json }) => withoutMadeUp(String(fieldsOf(json)["message"])),
];

function judgeSlash({ encoded, decoded, plain }: Readonly<Record<"encoded" | "decoded" | "plain", Reply>>): Finding {
  const seen = `${outlineOf(encoded)}; an id without a slash: ${outlineOf(plain)}`;
  if (isSuccess(plain) || !isRefusalOfService(plain.json)) {
    return unasked(`an unknown session is not refused by the service: ${outlineOf(plain)}`);
  }
  const refused = "calls about a name or an id with a slash fail: pass the project's id";
  if (isSuccess(encoded)) return contradicts(seen, "a call about an id with a slash may reach another endpoint");
  if (!isRefusalOfService(encoded.json)) return contradicts(`refused by a proxy: ${seen}`, refused);
  for (const contentOf of CONTENTS) {
    const [asEncoded, asDecoded, asPlain] = [encoded, decoded, plain].map(contentOf);
    if (asEncoded === asDecoded && asEncoded !== asPlain) {
      return contradicts(`decoded on the way, as /sessions/{made up}/{made up}: ${seen}`, refused);
    }
    if (asEncoded === asPlain && asEncoded !== asDecoded)
      return agrees(`yes: ${outlineOf(encoded)}, as without a slash`);
  }
  const isSame = encoded.status === plain.status && codeOf(encoded) === codeOf(plain);
  return isSame
    ? unasked(`an unknown endpoint is refused as an unknown session is (${outlineOf(plain)})`)
    : contradicts(seen, refused);
}

export const PROXY_QUESTIONS: readonly Question[] = [
  question({
    id: "page-for-service",
    question: "Does a page answer in place of the service?",
    about:
      'the API documentation says "Every response carries these headers"; client: an empty 2xx to a DELETE is a success',
    assumes: "no: each 2xx has the rate limit headers",
    judgesPages: true,
    judge: judgePage,
  }),
  question({
    id: "encoded-slash",
    question: "Does a value with %2F arrive as one segment?",
    about: "client: a name or an id is one segment of the path, and its slashes are sent as %2F",
    assumes: "yes: refused as an unknown session is",
    asks: { encoded: ENCODED_SLASH, decoded: DECODED_SLASH, plain: UNKNOWN_SESSION },
    judgesPages: true,
    judge: judgeSlash,
  }),
];
