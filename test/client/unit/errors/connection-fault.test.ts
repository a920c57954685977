/** The words of a failed connection, and whether it will fail again. Neither says whether a write was sent. */
import { describe, expect, test } from "vitest";
import { type ConnectionFault, classifyFault, type Fault } from "../../../../src/core/errors/connection-fault.ts";

const BASE_URL = "https://service.example.com/api/v1";
const coded = (code: string, more: object = {}): Error => Object.assign(new Error(code), { code, ...more });
const fetchFailed = (cause: unknown): TypeError => new TypeError("fetch failed", { cause });
const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });
const connecting = (code: string): Error => coded(code, { syscall: "connect" });

const classify = (cause: unknown, fault: Partial<Fault> = {}): ConnectionFault =>
  classifyFault({ cause, source: "platform", ...fault }, BASE_URL);

/** The message, and `!` where sending it again cannot help. */
function wordsOf(cause: unknown, fault: Partial<Fault> = {}): string {
  const { words, permanent, said } = classify(cause, fault);
  const message = words.replace(/\{(\w+)\}/g, (_, name: keyof typeof said) => said[name] ?? "");
  return permanent ? `${message}!` : message;
}

const tunnel = (status: number): string => `Proxy response (${status}) !== 200 when HTTP Tunneling`;
const NO_CONNECTION = "no connection could be made to service.example.com ({code})";
const FAILED_TO_REACH = "the request failed to reach service.example.com ({code})!";
const LOST = "the connection was lost to service.example.com ({code})";
const IN_PAGE = `${LOST}; in a page, the service may not allow its origin (CORS)`;
const UNREADABLE = "the response of service.example.com could not be read: {why}";
const FORBIDDEN = "this process may not connect to service.example.com without --allow-net ({code})!";
const HTTP_PORT = FAILED_TO_REACH.replace(" ({code})", ": this port speaks http:, not https: ({code})");
const FAILED = "the request to service.example.com failed: {why}";

/** Of a read, by the platform's `fetch`. A code alone is an error with that code. */
const TABLE: Readonly<Record<string, readonly (string | Error)[]>> = {
  [NO_CONNECTION]: [
    ...["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ENETUNREACH", "EHOSTUNREACH", "UND_ERR_CONNECT_TIMEOUT"],
    ...["EADDRNOTAVAIL", "EHOSTDOWN", "ConnectionRefused", "FailedToOpenSocket"],
    ...[connecting("ETIMEDOUT"), connecting("ECONNRESET")],
    new AggregateError([coded("ECONNREFUSED"), coded("ENETUNREACH")], ""),
    named("TypeError", "client error (Connect): tcp connect error: refused"),
  ],
  "a proxy opened no tunnel to service.example.com ({reason})": [new Error(tunnel(502))],
  "a proxy opened no tunnel to service.example.com ({reason})!": [coded("UND_ERR_ABORTED", { message: tunnel(407) })],
  [FAILED_TO_REACH]: [
    ...["CERT_HAS_EXPIRED", "DEPTH_ZERO_SELF_SIGNED_CERT", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", "HOSTNAME_MISMATCH"],
    ...["ERR_TLS_CERT_ALTNAME_INVALID", "EPROTO", "UND_ERR_INVALID_ARG"],
    ...[
      new Error("bad port"),
      new Error("unknown scheme"),
      new TypeError("Headers.append: x is an invalid header value"),
    ],
  ],
  [HTTP_PORT]: ["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG"],
  [FORBIDDEN]: ["ERR_ACCESS_DENIED", named("NotCapable", 'Requires net access to "service.example.com:443"')],
  [LOST]: [
    ...["ECONNRESET", "EPIPE", "ECONNABORTED", "ETIMEDOUT", "UND_ERR_SOCKET", "UND_ERR_HEADERS_TIMEOUT"],
    // What macOS says of a socket that is being closed; not the handshake's EPROTO.
    coded("EPROTOTYPE", { syscall: "write" }),
    // The route of a connection that was there has gone.
    ...["read", "write"].map((syscall) => coded("EHOSTUNREACH", { syscall })),
    new AggregateError([coded("ECONNREFUSED"), coded("ECONNRESET", { syscall: "read" })], ""),
    ...["terminated", "network error", "Network request failed", "error sending request"].map(
      (text) => new TypeError(text),
    ),
    ...["Could not connect to the server.", "The Internet connection appears to be offline."].map(
      (text) => new TypeError(text),
    ),
    ...[new Error("Network connection lost."), new DOMException("it took too long", "TimeoutError")],
  ],
  [IN_PAGE]: ["Failed to fetch", "Load failed", "NetworkError when attempting to fetch."].map(
    (text) => new TypeError(text),
  ),
  [UNREADABLE]: ["HPE_INVALID_CONSTANT", "UND_ERR_HEADERS_OVERFLOW", named("HTTPParserError", "Invalid header token")],
  [FAILED]: [
    new Error("mine"),
    new TypeError("x is not a function"),
    coded("ERR_NOCK_NO_MATCH", { message: "no match" }),
  ],
  [`${FAILED}!`]: [new TypeError("it resolved with nothing, not with a response")],
};

describe.each(Object.entries(TABLE))("%s", (words, errors) => {
  test.each(errors.map((one) => (typeof one === "string" ? coded(one) : one)))("%s", (error) => {
    const { said } = classify(error);
    const expected = words.replace(/\{(\w+)\}/, (_, name: keyof typeof said) => said[name] ?? "");
    expect(wordsOf(error, { isRead: true })).toBe(expected);
    expect(wordsOf(new Error("outer", { cause: error }), { isRead: true })).toBe(expected);
  });
});

describe("the part that failed", () => {
  const cause = coded("ECONNREFUSED");
  const reset = coded("ECONNRESET");
  const elsewhere = coded("ECONNRESET", { address: "10.0.0.9", port: 6379 });
  const words = (text: string): Error => new Error(text);
  const [source, at] = ["application", "service.example.com"] as const;

  test.each<[string, Partial<Fault>, string]>([
    ["a write, refused, perhaps at a second try", { cause }, `the request to ${at} failed: ECONNREFUSED`],
    ["a write that was not sent", { cause, isUnsent: true }, `no connection could be made to ${at} (ECONNREFUSED)`],
    [
      "a write that was not sent, in other words",
      { cause: words("no"), isUnsent: true },
      `the request did not get through to ${at}: no`,
    ],
    ["a write of the application", { cause, source }, "the fetch of the application failed: ECONNREFUSED"],
    ["a read of it", { cause, source, isRead: true }, `no connection could be made to ${at} (ECONNREFUSED)`],
    [
      "a write of it that will fail again",
      { cause: coded("CERT_HAS_EXPIRED"), source },
      "the fetch of the application failed: CERT_HAS_EXPIRED!",
    ],
    ["an error of its own", { cause: words("mine"), source }, "the fetch of the application failed: mine"],
    ["a connection that it lost", { cause: reset, source }, `the connection was lost to ${at} (ECONNRESET)`],
    ["one to another host", { cause: elsewhere, source }, "the fetch of the application failed: ECONNRESET"],
    [
      "a refusal that it threw",
      { cause: words("status code 404"), source },
      "the fetch of the application must return refusals: status code 404",
    ],
    ["such words of the platform", { cause: words("status code 503") }, `the request to ${at} failed: status code 503`],
    [
      "a device without a network",
      { cause: new TypeError("Failed to fetch"), isOffline: true },
      `the connection was lost to ${at} (Failed to fetch); this device is offline`,
    ],
    ["a request that was not made", { cause, source: "request" }, "the request could not be made (ECONNREFUSED)!"],
    ["a body", { cause, source: "response" }, `the response of ${at} could not be read: ECONNREFUSED`],
  ])("%s", (_, fault, expected) => {
    expect(wordsOf(fault.cause, fault)).toBe(expected);
  });
});

describe("the reason", () => {
  const outer = (cause: Error): Error => new Error("outer", { cause });
  test.each<[string, unknown, string]>([
    ["is the deepest message", outer(new Error("inner", { cause: new Error("") })), "inner"],
    [
      "has its code, where it does not hold that",
      outer(coded("Z_DATA_ERROR", { message: "incorrect header check" })),
      "incorrect header check (Z_DATA_ERROR)",
    ],
    ["is the code, where there is no other", coded("E_MINE", { message: "" }), "E_MINE"],
    [
      "is that of an error of no errors",
      new AggregateError([], "every address was refused"),
      "every address was refused",
    ],
    ["of no error", undefined, "it does not say why"],
    ["of no text", { code: 5 }, "it does not say why"],
  ])("%s", (_, cause, reason) => {
    expect(wordsOf(cause, { source: "application" })).toBe(`the fetch of the application failed: ${reason}`);
  });

  test("is bounded where causes are a circle", () => {
    const one = new Error("one");
    one.cause = new Error("two", { cause: one });
    expect(wordsOf(one)).toBe("the request to service.example.com failed: two");
  });
});

describe("a host that is not the service is named", () => {
  const refusedAt = (address: string, port: number): Error => coded("ECONNREFUSED", { address, port });
  const hostOf = (cause: unknown, baseUrl: string): string =>
    classifyFault({ cause: fetchFailed(cause), source: "platform" }, baseUrl).said.host;

  test.each<[string, string, Error]>([
    ["its name", "https://service.example.com:8443", coded("ENOTFOUND", { hostname: "service.example.com" })],
    ["its address", "http://10.0.0.7:8080", refusedAt("10.0.0.7", 8080)],
    ["the port of https:", "https://10.0.0.7", refusedAt("10.0.0.7", 443)],
    ["the port of http:", "http://10.0.0.7", refusedAt("10.0.0.7", 80)],
    ["an IPv6 address", "http://[::1]:8080", refusedAt("::1", 8080)],
    [
      "localhost, at both stacks",
      "http://localhost:8080",
      new AggregateError([refusedAt("::1", 8080), refusedAt("127.0.0.1", 8080)]),
    ],
    ["in words alone", "http://10.0.0.7:8080", new Error("connect ECONNREFUSED 10.0.0.7:8080")],
    [
      "in undici's words",
      "https://service.example.com",
      new Error("Timeout (attempted address: service.example.com:443, timeout: 9ms)"),
    ],
  ])("not %s", (_, origin, error) => {
    expect(hostOf(error, `${origin}/api`)).toBe(new URL(origin).host);
  });

  test.each<[string, string, Error]>([
    ["10.0.0.7:9090", "http://10.0.0.7:8080", refusedAt("10.0.0.7", 9090)],
    ["10.0.0.8:8080", "http://10.0.0.7:8080", refusedAt("10.0.0.8", 8080)],
    ["example.com", "https://service.example.com", coded("ENOTFOUND", { hostname: "example.com" })],
    [
      "10.0.0.8:8080",
      "http://localhost:8080",
      new AggregateError([refusedAt("127.0.0.1", 8080), refusedAt("10.0.0.8", 8080)]),
    ],
  ])("%s beside %s", (host, origin, error) => {
    expect(hostOf(error, origin)).toBe(`${new URL(origin).host} at ${host}, its address or that of a proxy`);
  });
});
