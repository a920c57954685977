import { fieldsOf } from "../../core/checks/values.ts";
import { parseRateLimitHead } from "../../core/wire/head.ts";
import type { RateLimitHeaders } from "../../emulator/conventions.ts";
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
import { codeOf, outlineOf } from "../reading.ts";
import { CROSS_ORIGIN, PROJECTS } from "../steps.ts";
import { labelOf, type Reply } from "../wire.ts";

/** The client's way where it cannot see the limit. */
const UNSEEN = "client.rateLimit does not show it, and the client learns of the limit from a 429 only";

const ROLES = { limit: "RateLimit-Limit", remaining: "RateLimit-Remaining" } as const;
type Role = keyof typeof ROLES;

/** The name of the header that plays a role: that of the API documentation, or one that looks like it. */
export function rateLimitName(headers: Headers, role: Role): string | undefined {
  if (headers.has(ROLES[role])) return ROLES[role];
  return [...headers.keys()].find((name) => /rate-?limit|quota/.test(name) && name.endsWith(`-${role}`));
}

function formOf(value: string | null): RateLimitHeaders["form"] {
  if (/^\s*\d+\s*$/.test(value ?? "")) return "number";
  return /^\s*\d+\s*[,;]/.test(value ?? "") ? "number_and_window" : undefined;
}

function judgeRateLimit(_: unknown, { replies }: Seen): Finding {
  // The limit is per token, so the caller's own counts most.
  const own = replies.filter(({ request }) => (request.credential ?? "own") === "own");
  const ordered = [...own, ...replies];
  const best =
    ordered.find(({ headers }) => headers.has(ROLES.limit)) ??
    ordered.find(({ headers }) => rateLimitName(headers, "limit") !== undefined) ??
    ordered[0];
  if (best === undefined) return unasked("no response");
  const names = { limit: rateLimitName(best.headers, "limit"), remaining: rateLimitName(best.headers, "remaining") };
  const form = formOf(best.headers.get(names.limit ?? ROLES.limit));
  const rateLimitHeaders: RateLimitHeaders = {
    limit: names.limit ?? null,
    remaining: names.remaining ?? null,
    ...(form === undefined ? {} : { form }),
  };
  const others = Object.values(names).filter(
    (name) => name !== undefined && !Object.values<string>(ROLES).includes(name),
  );
  if (others.length > 0) return contradicts(`under other names: ${others.join(", ")}`, UNSEEN, { rateLimitHeaders });
  const missing = (["limit", "remaining"] as const).filter((role) => names[role] === undefined);
  if (missing.length > 0) {
    return contradicts(`no ${missing.map((role) => ROLES[role]).join(", no ")}`, UNSEEN, { rateLimitHeaders });
  }
  const value = `${best.headers.get(ROLES.limit)}; ${best.headers.get(ROLES.remaining)} left`;
  const { limit, remaining } = parseRateLimitHead(best);
  if (limit === undefined || remaining === undefined || form === undefined) {
    return contradicts(`not numbers: ${value}`, UNSEEN, { rateLimitHeaders });
  }
  if (form === "number") return agrees(value, { rateLimitHeaders });
  return differs(value, "nothing: the client reads both forms", { rateLimitHeaders });
}

function judgeCoverage(_: unknown, { replies }: Seen): Finding {
  const without = replies.filter(
    ({ headers }) => rateLimitName(headers, "limit") === undefined || rateLimitName(headers, "remaining") === undefined,
  );
  if (without.length === 0) return agrees(`each of ${replies.length}`);
  const [first] = without;
  const example = first === undefined ? "" : ` (${first.status} of ${labelOf(first.request)})`;
  return contradicts(
    `${without.length} of ${replies.length} without them${example}`,
    "client.rateLimit is older than the last response",
  );
}

function judgeRetryAfter(_: unknown, { replies }: Seen): Finding {
  const refused = replies.filter(({ status }) => status === 429);
  const [first] = refused;
  if (first === undefined) return unasked("the service refused no request; the doctor does not provoke it");
  const value = first.headers.get("retry-after");
  const code = codeOf(first);
  const guess = "the client pauses for 0.5 s, then 4, 8 and so on, in place of the time that is asked for";
  if (value === null) return contradicts("429 without Retry-After", guess, { retryAfter: null });
  const retryAfter = /^\s*\d+\s*$/.test(value) ? "seconds" : "date";
  const { retryAfterMs } = parseRateLimitHead(first);
  if (retryAfterMs === undefined) return contradicts(`Retry-After is not valid: ${value}`, guess);
  const seen = `${outlineOf(first)}, Retry-After: ${value}`;
  if (code !== "too_many_requests") {
    return contradicts(`${seen}: another error code`, "nothing but error.code: the client goes by the status", {
      retryAfter,
    });
  }
  if (retryAfter === "seconds") return agrees(seen, { retryAfter });
  return contradicts(`${seen}: not seconds`, "nothing: the client reads dates, too", { retryAfter });
}

function judgeCors({ reply }: Readonly<Record<"reply", Reply>>): Finding {
  const given = reply.headers.get("access-control-allow-origin");
  if (given === null) {
    const so = "in a page of another origin every call rejects with ConnectionError";
    return differs("none: pages of other origins see nothing", so, { cors: { allowOrigin: null } });
  }
  // A service that repeats the origin lets in every origin.
  const allowOrigin = given === fieldsOf(reply.request.headers)["origin"] ? "*" : given;
  const exposeHeaders = (reply.headers.get("access-control-expose-headers") ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const cors = { allowOrigin, exposeHeaders };
  const hidden = ["Retry-After", ...Object.values(ROLES)].filter(
    (name) => !exposeHeaders.some((exposed) => exposed === "*" || exposed.toLowerCase() === name.toLowerCase()),
  );
  const seen = `${given} may read the response${hidden.length > 0 ? `, but not ${hidden.join(", ")}` : ""}`;
  if (allowOrigin === "*" && hidden.length === 0) return agrees(seen, { cors });
  const pages =
    allowOrigin === "*" ? "a page" : `a page of another origin than ${allowOrigin} gets ConnectionError; a page`;
  return differs(seen, `${pages} does not see what is hidden: without Retry-After, the client guesses its pauses`, {
    cors,
  });
}

function judgeContentType({ reply }: Readonly<Record<"reply", Reply>>): Finding {
  const contentType = reply.headers.get("content-type");
  const so = "nothing: the client reads the body, whatever its type";
  if (contentType === null) return differs("none", so);
  const isJson = /^application\/(?:[\w.-]+\+)?json\b/i.test(contentType);
  return isJson ? agrees(contentType, { contentType }) : differs(contentType, so, { contentType });
}

function judgeRequestId({ reply }: Readonly<Record<"reply", Reply>>): Finding {
  const { headers } = reply;
  const found = [...headers.keys()].find((name) => /(?:request|correlation|trace)-?id$/.test(name));
  const requestIdHeader = headers.has("x-request-id") ? "x-request-id" : (found ?? null);
  const seen = requestIdHeader ?? "none";
  if (seen === "x-request-id") return agrees(seen, { requestIdHeader });
  return differs(seen, "error.requestId is missing; onResponse sees the headers of each response", { requestIdHeader });
}

export const HEADER_QUESTIONS: readonly Question[] = [
  question({
    id: "rate-limit-headers",
    question: "Which rate limit headers are there, and in which form?",
    about: "the API documentation names RateLimit-Limit and RateLimit-Remaining; convention rateLimitHeaders",
    assumes: "RateLimit-Limit and RateLimit-Remaining, numbers",
    judge: judgeRateLimit,
  }),
  question({
    id: "rate-limit-everywhere",
    question: "Does every response carry the rate limit headers?",
    about: 'the API documentation says "Every response carries these headers"',
    assumes: "every response, errors too",
    judge: judgeCoverage,
  }),
  question({
    id: "retry-after",
    question: "What does a 429 say?",
    about:
      'the API documentation says "429 and error code `too_many_requests`, together with a `Retry-After` header", in seconds',
    assumes: "429 too_many_requests, Retry-After in seconds",
    judge: judgeRetryAfter,
  }),
  question({
    id: "cors",
    question: "What may a page of another origin see?",
    about: "convention cors",
    assumes: "everything, Retry-After and the rate limit headers too",
    asks: { reply: CROSS_ORIGIN },
    judge: judgeCors,
  }),
  question({
    id: "content-type",
    question: "What content type has JSON?",
    about: 'the API documentation says "Request and response bodies are JSON."; convention contentType',
    assumes: "application/json",
    asks: { reply: PROJECTS },
    judge: judgeContentType,
  }),
  question({
    id: "request-id",
    question: "Which header names the request?",
    about: "client: `requestId` of errors; convention requestIdHeader",
    assumes: "x-request-id",
    asks: { reply: PROJECTS },
    judge: judgeRequestId,
  }),
];
