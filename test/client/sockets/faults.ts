/** The faults of the matrix, one a line: what the socket does, and which rule of the retry table holds. */
import type { AnyAutomationError, Outcome } from "../../../src/client/index.ts";
import {
  drip,
  endless,
  finish,
  goodHead,
  gzipped,
  halfBody,
  head,
  reset,
  respond,
  send,
  sequence,
  silence,
} from "../../support/raw-behaviours.ts";
import type { Behaviour } from "../../support/raw-server.ts";
import { type Family, outcomeFor, RULES, type Rule } from "../../support/retry-table.ts";
import { turns } from "../../support/turns.ts";

/** The error of a call whose every attempt meets the fault. With more than one try it recovers if the fault passes. */
export interface Failing {
  /** More than one where platforms report it differently. */
  readonly kind: AnyAutomationError["kind"] | readonly AnyAutomationError["kind"][];
  /** `undefined` of a read that may have been sent. */
  readonly outcome: Outcome | undefined;
  /** Requests in all. */
  readonly tries: number;
}

export type Expected = "success" | Failing;
export type Verb = "GET" | "DELETE" | "POST";

/** The destination of attempts that never reach the service. */
export type Detour = "a closed port" | "an unknown host" | "a bad certificate" | "TLS to a plain port";

export interface Fault {
  readonly name: string;
  readonly expected: Readonly<Record<Verb, Expected>>;
  readonly does: Behaviour | Detour;
  /** The code of the platform, if it is the same on all. */
  readonly platformCode: RegExp | undefined;
}

/** `timeoutMs` of the matrix. */
export const TIMEOUT_MS = 300;
/** `retry.attempts` of the matrix. */
export const ATTEMPTS = 3;
/** `retry.rateLimitWaits` of the matrix. */
export const RATE_LIMIT_WAITS = 1;

type Row = Fault["expected"];

/** What a rule of the retry table means here; `kind` or `outcome` where a fault has others. */
function under(rule: Rule, overrides: Partial<Pick<Failing, "kind" | "outcome">> = {}): Row {
  const retries = rule === RULES.rateLimited ? RATE_LIMIT_WAITS : ATTEMPTS - 1;
  const expected = (family: Family): Expected => {
    const reaction = rule.reaction[family];
    if (reaction === "succeed") return "success";
    const tries = reaction === "retry" ? retries + 1 : 1;
    const { kind, outcome } = { ...rule, ...overrides };
    return { kind, outcome: outcome && outcomeFor(family, outcome), tries };
  };
  return { GET: expected("safe"), DELETE: expected("delete"), POST: expected("write") };
}

const lost = under(RULES.connectionLost);
const timedOut = under(RULES.attemptTimeout);
const bodyLost = under(RULES.bodyLost);
const bodyTimedOut = under(RULES.bodyTimeout);
const bodyLostEarly = under(RULES.bodyLostEarly);
const bodyTimedOutEarly = under(RULES.bodyTimeoutEarly);
const unreadable = under(RULES.notJson);
const page = under(RULES.page);
const noBody = under(RULES.noBody);
const misshapen = under(RULES.otherShape);
const neverSent = under(RULES.noConnection);
const permanent = under(RULES.permanent);
const rateLimited = under(RULES.rateLimited);
const transient = under(RULES.transientStatus);
const final = (kind: Failing["kind"]): Row => under(RULES.finalStatus, { kind });
const redirected = under(RULES.finalStatus, { kind: "redirect", outcome: "unknown" });
const finalServerError = under(RULES.finalStatus, { kind: "server", outcome: "unknown" });
/** Platforms notice these in different ways. */
const EITHER = ["timeout", "connection"] as const;
const fine: Row = { GET: "success", DELETE: "success", POST: "success" };

/** A `DELETE` fails as soon as its body begins as a page. */
const lostPage: Row = { ...bodyLostEarly, DELETE: page.DELETE };

/** Lets the client, which is in this process, read what was sent before the connection breaks. */
const soon: Behaviour = () => turns(10);
const chunked = head(200, [["Transfer-Encoding", "chunked"]]);

/** `elsewhere`: where redirects lead. */
export function faults(elsewhere: string): readonly Fault[] {
  const rows: readonly (readonly [name: string, Row, does: Fault["does"], code?: RegExp])[] = [
    // the connection is never made
    ["refused", neverSent, "a closed port", /^ECONNREFUSED$/],
    ["DNS failure", neverSent, "an unknown host", /^(ENOTFOUND|EAI_AGAIN)$/],
    ["bad certificate", permanent, "a bad certificate", /SELF_SIGNED/],
    ["TLS to a plain port", permanent, "TLS to a plain port", /SSL|EPROTO/],
    // the connection breaks before the head of the response
    ["reset before headers", lost, reset],
    ["FIN before headers", lost, finish],
    ["reset within the status line", lost, sequence(send("HTTP/1.1 20"), soon, reset)],
    ["FIN within the headers", lost, sequence(send("HTTP/1.1 200 OK\r\nA: b\r\n"), soon, finish)],
    ["non-HTTP bytes", lost, send("\x00\x01SSH-2.0-nothing\r\n\r\n")],
    ["HTTP/0.9", lost, sequence(send("<html>no head</html>"), finish)],
    ["a broken header", lost, send("HTTP/1.1 200 OK\r\nno colon\r\n\r\n{}")],
    ["headers of 64 KiB", lost, send(head(200, [["X-Long", "x".repeat(65_536)]]))],
    ["a broken value", lost, send("HTTP/1.1 200 OK\r\na: b\0c\r\n\r\n{}")],
    ["a negative length", lost, send(head(200, [["Content-Length", "-1"]]))],
    ["status 099", lost, send("HTTP/1.1 099 No\r\n\r\n")],
    ["an upgrade", lost, send("HTTP/1.1 101 Up\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")],
    [
      "two lengths",
      lost,
      send(
        head(200, [
          ["Content-Length", "2"],
          ["Content-Length", "3"],
        ]),
      ),
    ],
    ["silence", timedOut, silence],
    ["a head byte by byte", timedOut, drip("HTTP/1.1 200 OK and so on ", 50)],
    [
      "early hints, then silence",
      under(RULES.connectionLost, { kind: EITHER }),
      send("HTTP/1.1 103 Early Hints\r\n\r\n"),
    ],
    // the response breaks after a 2xx head
    ["reset after headers", bodyLostEarly, sequence(goodHead(9), soon, reset)],
    ["FIN after headers", bodyLostEarly, sequence(goodHead(9), soon, finish)],
    ["reset behind white space", bodyLostEarly, sequence(goodHead(9), send(" \n"), soon, reset)],
    ["reset behind the first character", bodyLost, sequence(goodHead(9), send(" {"), soon, reset)],
    ["FIN behind the first character", bodyLost, sequence(goodHead(9), send("{"), soon, finish)],
    ["reset within a page", lostPage, sequence(goodHead(9), send("<!doctype"), soon, reset)],
    ["reset within the body", bodyLost, sequence(goodHead(9), halfBody, soon, reset)],
    ["FIN within the body", bodyLost, sequence(goodHead(9), halfBody, soon, finish)],
    ["headers, then silence", bodyTimedOutEarly, goodHead(9)],
    ["half a body, then silence", bodyTimedOut, sequence(goodHead(9), halfBody)],
    ["a body byte by byte", bodyTimedOutEarly, sequence(goodHead(99_999), drip(" ", 50))],
    ["a cut chunk", bodyLost, sequence(send(`${chunked}ff\r\n{"id":`), soon, finish)],
    ["a bogus chunk size", bodyLostEarly, sequence(send(chunked), soon, send("zz\r\n{}\r\n"))],
    ["chunks without an end", bodyLost, sequence(send(`${chunked}2\r\n{}\r\n`), soon, finish)],
    ["bogus gzip", under(RULES.bodyLostEarly, { kind: EITHER }), gzipped(() => Buffer.from("no gzip at all, really"))],
    ["gzip with a flipped bit", under(RULES.bodyLostEarly, { kind: EITHER }), gzipped(flipped)],
    ["a 2xx of endless chunks of words", { ...bodyTimedOutEarly, DELETE: page.DELETE }, endless(200)],
    // it looks complete and is not
    ["truncated gzip", unreadable, gzipped((bytes) => bytes.subarray(0, -12))],
    ["a close-delimited half", unreadable, sequence(send(head(200, [])), halfBody, send("{"), finish)],
    ["HTML from a captive portal", page, respond({ body: "<html>Log in</html>" })],
    ["an empty 200", noBody, respond({ body: "" })],
    ["null", misshapen, respond({ body: "null" })],
    // error responses
    ["an endless 429", rateLimited, endless(429, ["Retry-After", "0"])],
    [
      "a 429, then silence",
      rateLimited,
      send(
        head(429, [
          ["Retry-After", "0"],
          ["Content-Length", "9"],
        ]),
      ),
    ],
    ["a 429 of HTML", rateLimited, respond({ status: 429, headers: [["Retry-After", "0"]], body: "<html>" })],
    ["an endless 500", transient, endless(500)],
    ["a 500, then reset", transient, sequence(send(head(500, [["Content-Length", "9"]])), soon, reset)],
    ["HTML from a proxy", transient, respond({ status: 502, body: "<html>Bad Gateway</html>" })],
    ["408", under(RULES.transientStatus, { kind: "api" }), respond({ status: 408, body: "" })],
    ["501", finalServerError, respond({ status: 501 })],
    ["511", finalServerError, respond({ status: 511 })],
    // Fetch turns a 407 into a network error, so the client does not see the status.
    ["407 from a proxy", lost, respond({ status: 407, body: "<html>" })],
    ["a 400, then silence", final("bad_request"), send(head(400, [["Content-Length", "9"]]))],
    ["an endless 404", final("not_found"), endless(404)],
    ["a redirect to another host", redirected, respond({ status: 302, headers: [["Location", elsewhere]] })],
    ["a 308 to another host", final("redirect"), respond({ status: 308, headers: [["Location", elsewhere]] })],
    ["a 3xx without a Location", redirected, respond({ status: 300 })],
    ["304", redirected, respond({ status: 304, body: "" })],
    // unusual, but complete
    ["early hints", fine, sequence(send("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"), respond())],
    ["repeated headers", fine, respond({ headers: repeated })],
    ["whole gzip", fine, gzipped((bytes) => bytes)],
    ["FIN right behind the response", fine, sequence(respond({ headers: [["Connection", "close"]] }), finish)],
  ];
  return rows.map(([name, expected, does, platformCode]) => ({ name, expected, does, platformCode }));
}

const repeated = [
  "RateLimit-Limit",
  "RateLimit-Remaining",
  "Content-Type",
  "Date",
  "Retry-After",
  "X-Request-Id",
].flatMap((name): (readonly [string, string])[] => [
  [name, "5"],
  [name, "x, 7"],
]);

function flipped(bytes: Buffer): Buffer {
  const middle = Math.floor(bytes.length / 2);
  bytes.writeUInt8(bytes.readUInt8(middle) ^ 0xff, middle);
  return bytes;
}
