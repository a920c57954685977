/** The faults of the matrix, one a line: what happens, and what each method makes of it. */
import type { AnyAutomationError, Outcome } from "../../src/index.ts";
import {
  answer,
  drip,
  endless,
  finish,
  goodHead,
  gzipped,
  halfBody,
  head,
  pause,
  reset,
  send,
  sequence,
  silence,
} from "../support/raw-behaviours.ts";
import type { Behaviour } from "../support/raw-server.ts";

/** How a call ends whose every attempt meets the fault; with more than one try, it recovers where the fault passes. */
export interface Failing {
  /** More than one where platforms tell it differently. */
  readonly kind: AnyAutomationError["kind"] | readonly AnyAutomationError["kind"][];
  readonly outcome: Outcome;
  /** Requests in all. */
  readonly tries: number;
}

export type Expected = "success" | Failing;
export type Verb = "GET" | "DELETE" | "POST";

/** Where attempts go that never reach the service. */
export type Detour =
  | "a closed port"
  | "an unknown host"
  | "a bad certificate"
  | "TLS to a plain port"
  | "a blocked port";

export interface Fault {
  readonly name: string;
  readonly expected: Readonly<Record<Verb, Expected>>;
  readonly does: Behaviour | Detour;
  /** The code of the platform, where it is the same on all. */
  readonly platformCode: RegExp | undefined;
}

/** `timeoutMs` of the matrix. */
export const TIMEOUT_MS = 300;
/** `retry.attempts` of the matrix. */
export const ATTEMPTS = 3;
/** `retry.rateLimitWaits` of the matrix. */
export const RATE_LIMIT_WAITS = 1;

type Row = Fault["expected"];

/** Idempotent methods are sent again, others not. */
function lost(kind: Failing["kind"]): Row {
  const again: Failing = { kind, outcome: "unknown", tries: ATTEMPTS };
  return { GET: again, DELETE: again, POST: { ...again, tries: 1 } };
}

/** After a 2xx head: a DELETE is done, a GET is sent again, a POST was accepted. */
function cut(kind: Failing["kind"]): Row {
  const again: Failing = { kind, outcome: "accepted", tries: ATTEMPTS };
  return { GET: again, DELETE: "success", POST: { ...again, tries: 1 } };
}

/** A 2xx answer that is whole as far as anybody can tell, and of no use. */
const unreadable: Row = {
  GET: { kind: "parse", outcome: "accepted", tries: 1 },
  DELETE: "success",
  POST: { kind: "parse", outcome: "accepted", tries: 1 },
};

const misshapen: Row = {
  GET: { kind: "validation", outcome: "accepted", tries: 1 },
  DELETE: "success",
  POST: { kind: "validation", outcome: "accepted", tries: 1 },
};

const neverSent: Row = all({ kind: "connection", outcome: "not_sent", tries: ATTEMPTS });
const refusedByPlatform: Row = all({ kind: "connection", outcome: "not_sent", tries: 1 });
const fine: Row = all("success");
const rateLimited: Row = all({ kind: "rate_limit", outcome: "rejected", tries: RATE_LIMIT_WAITS + 1 });

function all(expected: Expected): Row {
  return { GET: expected, DELETE: expected, POST: expected };
}

function refusal(kind: AnyAutomationError["kind"], outcome: Outcome = "rejected"): Row {
  return all({ kind, outcome, tries: 1 });
}

const soon = pause(5); // lets what was sent arrive before the connection breaks
const chunked = head(200, [["Transfer-Encoding", "chunked"]]);

/** `elsewhere`: where redirects lead. */
export function faults(elsewhere: string): readonly Fault[] {
  const rows: readonly (readonly [name: string, Row, does: Fault["does"], code?: RegExp])[] = [
    // the connection is never made
    ["refused", neverSent, "a closed port", /^ECONNREFUSED$/],
    ["DNS failure", neverSent, "an unknown host", /^(ENOTFOUND|EAI_AGAIN)$/],
    ["bad certificate", refusedByPlatform, "a bad certificate", /SELF_SIGNED/],
    ["TLS to a plain port", refusedByPlatform, "TLS to a plain port", /SSL|EPROTO/],
    ["a port that fetch blocks", refusedByPlatform, "a blocked port"],
    // the connection breaks before the head of the answer
    ["reset before headers", lost("connection"), reset],
    ["FIN before headers", lost("connection"), finish],
    ["reset within the status line", lost("connection"), sequence(send("HTTP/1.1 20"), soon, reset)],
    ["FIN within the headers", lost("connection"), sequence(send("HTTP/1.1 200 OK\r\nA: b\r\n"), soon, finish)],
    ["non-HTTP bytes", lost("connection"), send("\x00\x01SSH-2.0-nothing\r\n\r\n")],
    ["HTTP/0.9", lost("connection"), sequence(send("<html>no head</html>"), finish)],
    ["a broken header", lost("connection"), send("HTTP/1.1 200 OK\r\nno colon\r\n\r\n{}")],
    ["headers of 64 KiB", lost("connection"), send(head(200, [["X-Long", "x".repeat(65_536)]]))],
    ["a broken value", lost("connection"), send("HTTP/1.1 200 OK\r\na: b\0c\r\n\r\n{}")],
    ["a negative length", lost("connection"), send(head(200, [["Content-Length", "-1"]]))],
    ["status 099", lost("connection"), send("HTTP/1.1 099 No\r\n\r\n")],
    ["an upgrade", lost("connection"), send("HTTP/1.1 101 Up\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")],
    [
      "two lengths",
      lost("connection"),
      send(
        head(200, [
          ["Content-Length", "2"],
          ["Content-Length", "3"],
        ]),
      ),
    ],
    ["silence", lost("timeout"), silence],
    ["a head byte by byte", lost("timeout"), drip("HTTP/1.1 200 OK and so on ", 50)],
    ["early hints, then silence", lost(["timeout", "connection"]), send("HTTP/1.1 103 Early Hints\r\n\r\n")],
    // the answer breaks after a 2xx head
    ["reset after headers", cut("connection"), sequence(goodHead(9), soon, reset)],
    ["FIN after headers", cut("connection"), sequence(goodHead(9), soon, finish)],
    ["reset within the body", cut("connection"), sequence(goodHead(9), halfBody, soon, reset)],
    ["FIN within the body", cut("connection"), sequence(goodHead(9), halfBody, soon, finish)],
    ["headers, then silence", cut("timeout"), goodHead(9)],
    ["half a body, then silence", cut("timeout"), sequence(goodHead(9), halfBody)],
    ["a body byte by byte", cut("timeout"), sequence(goodHead(99_999), drip(" ", 50))],
    ["a cut chunk", cut("connection"), sequence(send(`${chunked}ff\r\n{"id":`), soon, finish)],
    ["a bogus chunk size", cut("connection"), sequence(send(chunked), soon, send("zz\r\n{}\r\n"))],
    ["chunks without an end", cut("connection"), sequence(send(`${chunked}2\r\n{}\r\n`), soon, finish)],
    ["bogus gzip", cut(["connection", "timeout"]), gzipped(() => Buffer.from("no gzip at all, really"))],
    ["gzip with a flipped bit", cut(["connection", "timeout"]), gzipped(flipped)],
    ["a 2xx of endless chunks", cut("timeout"), endless(200)],
    // it looks whole and is not
    ["truncated gzip", unreadable, gzipped((bytes) => bytes.subarray(0, -12))],
    ["a close-delimited half", unreadable, sequence(send(head(200, [])), halfBody, send("{"), finish)],
    ["HTML from a captive portal", unreadable, answer({ body: "<html>Log in</html>" })],
    ["an empty 200", unreadable, answer({ body: "" })],
    ["null", misshapen, answer({ body: "null" })],
    // refusals
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
    ["a 429 of HTML", rateLimited, answer({ status: 429, headers: [["Retry-After", "0"]], body: "<html>" })],
    ["an endless 500", lost("server"), endless(500)],
    ["a 500, then reset", lost("server"), sequence(send(head(500, [["Content-Length", "9"]])), soon, reset)],
    ["HTML from a proxy", lost("server"), answer({ status: 502, body: "<html>Bad Gateway</html>" })],
    ["408", lost("api"), answer({ status: 408, body: "" })],
    ["501", refusal("server", "unknown"), answer({ status: 501 })],
    ["511", refusal("server", "unknown"), answer({ status: 511 })],
    // Fetch makes a network error of a 407, so nobody sees the status.
    ["407 from a proxy", lost("connection"), answer({ status: 407, body: "<html>" })],
    ["a 400, then silence", refusal("bad_request"), send(head(400, [["Content-Length", "9"]]))],
    ["an endless 404", refusal("not_found"), endless(404)],
    ["a redirect to another host", refusal("redirect"), answer({ status: 302, headers: [["Location", elsewhere]] })],
    ["a 308 to another host", refusal("redirect"), answer({ status: 308, headers: [["Location", elsewhere]] })],
    ["a 3xx without a place", refusal("redirect"), answer({ status: 300 })],
    ["304", refusal("redirect"), answer({ status: 304, body: "" })],
    // odd, but whole
    ["early hints", fine, sequence(send("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"), answer())],
    ["repeated headers", fine, answer({ headers: repeated })],
    ["whole gzip", fine, gzipped((bytes) => bytes)],
    ["FIN right behind the answer", fine, sequence(answer({ headers: [["Connection", "close"]] }), finish)],
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
