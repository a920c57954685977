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
export type Detour = "a closed port" | "an unknown host" | "a bad certificate" | "TLS to a plain port" | "a blocked port";

export interface Fault {
  readonly name: string;
  readonly expected: Readonly<Record<Verb, Expected>>;
  readonly does: Behaviour | Detour;
  /** The code of the platform, where it is the same on all. */
  readonly platformCode?: RegExp;
}

/** `timeoutMs` of the matrix. */
export const TIMEOUT_MS = 150;
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
  return [
    // the connection is never made
    { name: "refused", does: "a closed port", expected: neverSent, platformCode: /^ECONNREFUSED$/ },
    { name: "DNS failure", does: "an unknown host", expected: neverSent, platformCode: /^(ENOTFOUND|EAI_AGAIN)$/ },
    { name: "bad certificate", does: "a bad certificate", expected: refusedByPlatform, platformCode: /SELF_SIGNED/ },
    { name: "TLS to a plain port", does: "TLS to a plain port", expected: refusedByPlatform, platformCode: /SSL|EPROTO/ },
    { name: "a port that fetch blocks", does: "a blocked port", expected: refusedByPlatform },
    // the connection breaks before the head of the answer
    { name: "reset before headers", does: reset, expected: lost("connection") },
    { name: "FIN before headers", does: finish, expected: lost("connection") },
    { name: "reset within the status line", does: sequence(send("HTTP/1.1 20"), soon, reset), expected: lost("connection") },
    { name: "FIN within the headers", does: sequence(send("HTTP/1.1 200 OK\r\nA: b\r\n"), soon, finish), expected: lost("connection") },
    { name: "non-HTTP bytes", does: send("\x00\x01SSH-2.0-nothing\r\n\r\n"), expected: lost("connection") },
    { name: "HTTP/0.9", does: sequence(send("<html>no head</html>"), finish), expected: lost("connection") },
    { name: "a broken header", does: send("HTTP/1.1 200 OK\r\nno colon\r\n\r\n{}"), expected: lost("connection") },
    { name: "headers of 64 KiB", does: send(head(200, [["X-Long", "x".repeat(65_536)]])), expected: lost("connection") },
    { name: "a broken value", does: send("HTTP/1.1 200 OK\r\na: b\0c\r\n\r\n{}"), expected: lost("connection") },
    { name: "a negative length", does: send(head(200, [["Content-Length", "-1"]])), expected: lost("connection") },
    { name: "status 099", does: send("HTTP/1.1 099 No\r\n\r\n"), expected: lost("connection") },
    { name: "an upgrade", does: send("HTTP/1.1 101 Up\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"), expected: lost("connection") },
    { name: "two lengths", does: send(head(200, [["Content-Length", "2"], ["Content-Length", "3"]])), expected: lost("connection") },
    { name: "silence", does: silence, expected: lost("timeout") },
    { name: "a head byte by byte", does: drip("HTTP/1.1 200 OK and so on ", 50), expected: lost("timeout") },
    { name: "early hints, then silence", does: send("HTTP/1.1 103 Early Hints\r\n\r\n"), expected: lost(["timeout", "connection"]) },
    // the answer breaks after a 2xx head
    { name: "reset after headers", does: sequence(goodHead(9), soon, reset), expected: cut("connection") },
    { name: "FIN after headers", does: sequence(goodHead(9), soon, finish), expected: cut("connection") },
    { name: "reset within the body", does: sequence(goodHead(9), halfBody, soon, reset), expected: cut("connection") },
    { name: "FIN within the body", does: sequence(goodHead(9), halfBody, soon, finish), expected: cut("connection") },
    { name: "headers, then silence", does: goodHead(9), expected: cut("timeout") },
    { name: "half a body, then silence", does: sequence(goodHead(9), halfBody), expected: cut("timeout") },
    { name: "a body byte by byte", does: sequence(goodHead(99_999), drip(" ", 50)), expected: cut("timeout") },
    { name: "a cut chunk", does: sequence(send(`${chunked}ff\r\n{"id":`), soon, finish), expected: cut("connection") },
    { name: "a bogus chunk size", does: sequence(send(chunked), soon, send("zz\r\n{}\r\n")), expected: cut("connection") },
    { name: "chunks without an end", does: sequence(send(`${chunked}2\r\n{}\r\n`), soon, finish), expected: cut("connection") },
    { name: "bogus gzip", does: gzipped(() => Buffer.from("no gzip at all, really")), expected: cut(["connection", "timeout"]) },
    { name: "gzip with a flipped bit", does: gzipped(flipped), expected: cut(["connection", "timeout"]) },
    { name: "a 2xx of endless chunks", does: endless(200), expected: cut("timeout") },
    // it looks whole and is not
    { name: "truncated gzip", does: gzipped((bytes) => bytes.subarray(0, -12)), expected: unreadable },
    { name: "a close-delimited half", does: sequence(send(head(200, [])), halfBody, send("{"), finish), expected: unreadable },
    { name: "HTML from a captive portal", does: answer({ body: "<html>Log in</html>" }), expected: unreadable },
    { name: "an empty 200", does: answer({ body: "" }), expected: unreadable },
    { name: "null", does: answer({ body: "null" }), expected: { ...cut("validation"), GET: once("validation"), POST: once("validation") } },
    // refusals
    { name: "an endless 429", does: endless(429, ["Retry-After", "0"]), expected: rateLimited },
    { name: "a 429, then silence", does: send(head(429, [["Retry-After", "0"], ["Content-Length", "9"]])), expected: rateLimited },
    { name: "a 429 of HTML", does: answer({ status: 429, headers: [["Retry-After", "0"]], body: "<html>" }), expected: rateLimited },
    { name: "an endless 500", does: endless(500), expected: lost("server") },
    { name: "a 500, then reset", does: sequence(send(head(500, [["Content-Length", "9"]])), soon, reset), expected: lost("server") },
    { name: "HTML from a proxy", does: answer({ status: 502, body: "<html>Bad Gateway</html>" }), expected: lost("server") },
    { name: "408", does: answer({ status: 408, body: "" }), expected: lost("api") },
    { name: "501", does: answer({ status: 501 }), expected: refusal("server", "unknown") },
    { name: "511", does: answer({ status: 511 }), expected: refusal("server", "unknown") },
    // Fetch makes a network error of a 407, so nobody sees the status.
    { name: "407 from a proxy", does: answer({ status: 407, body: "<html>" }), expected: lost("connection") },
    { name: "a 400, then silence", does: send(head(400, [["Content-Length", "9"]])), expected: refusal("bad_request") },
    { name: "an endless 404", does: endless(404), expected: refusal("not_found") },
    { name: "a redirect to another host", does: answer({ status: 302, headers: [["Location", elsewhere]] }), expected: refusal("redirect") },
    { name: "a 308 to another host", does: answer({ status: 308, headers: [["Location", elsewhere]] }), expected: refusal("redirect") },
    { name: "a 3xx without a place", does: answer({ status: 300 }), expected: refusal("redirect") },
    { name: "304", does: answer({ status: 304, body: "" }), expected: refusal("redirect") },
    // odd, but whole
    { name: "early hints", does: sequence(send("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"), answer()), expected: fine },
    { name: "repeated headers", does: answer({ headers: repeated }), expected: fine },
    { name: "whole gzip", does: gzipped((bytes) => bytes), expected: fine },
    { name: "FIN right behind the answer", does: sequence(answer({ headers: [["Connection", "close"]] }), finish), expected: fine },
  ];
}

const repeated = ["RateLimit-Limit", "RateLimit-Remaining", "Content-Type", "Date", "Retry-After", "X-Request-Id"].flatMap(
  (name): (readonly [string, string])[] => [
    [name, "5"],
    [name, "x, 7"],
  ],
);

function once(kind: AnyAutomationError["kind"]): Failing {
  return { kind, outcome: "accepted", tries: 1 };
}

function flipped(bytes: Buffer): Buffer {
  const middle = Math.floor(bytes.length / 2);
  bytes.writeUInt8(bytes.readUInt8(middle) ^ 0xff, middle);
  return bytes;
}
