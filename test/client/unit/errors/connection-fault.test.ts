import { describe, expect, test } from "vitest";
import {
  type ConnectionFault,
  classifyFault,
  type FaultSource,
  isNeverSent,
  type Named,
  type RequestEvidence,
} from "../../../../src/core/errors/connection-fault.ts";

const coded = (code: string, more: object = {}): Error => Object.assign(new Error(code), { code, ...more });
const fetchFailed = (cause: unknown): TypeError => new TypeError("fetch failed", { cause });
const baseUrl = "https://service.example.com/api/v1";

interface Context {
  readonly baseUrl: string;
  readonly source: FaultSource;
  readonly request?: RequestEvidence;
  readonly isSentOnce?: boolean;
  readonly isOffline?: boolean;
}

const classify = (cause: unknown, { baseUrl, ...fault }: Context): ConnectionFault =>
  classifyFault({ cause, ...fault }, baseUrl);

/** The platform tells that this request failed with this error, before its headers left. */
const UNSENT: RequestEvidence = { left: false, failed: true, unsent: false };
const LEFT: RequestEvidence = { left: true, failed: true, unsent: false };
/** The platform tells of requests, and saw none of this write. */
const NOT_SEEN: RequestEvidence = { left: false, failed: false, unsent: false };
/** Node tells that this error ended the connecting. */
const NEVER_CONNECTED: RequestEvidence = { left: false, failed: true, unsent: true };

const platform: Context = { baseUrl, source: "platform", request: UNSENT };
const application: Context = { baseUrl, source: "application", isSentOnce: true };

type Verdict = "never_sent" | "refused" | "lost" | "unexplained";

/** What is known of the request. */
function verdictOf(error: unknown, context: Context): Verdict {
  const { isSent, permanent } = classify(error, context);
  if (isSent === true) return permanent ? "unexplained" : "lost";
  return permanent ? "refused" : "never_sent";
}

const TABLE = {
  never_sent: [
    ...[
      "ECONNREFUSED",
      "ENOTFOUND",
      "EAI_AGAIN",
      "ENETUNREACH",
      "EHOSTUNREACH",
      "UND_ERR_CONNECT_TIMEOUT",
      "EADDRNOTAVAIL",
    ].map((code) => coded(code)),
    coded("ETIMEDOUT", { syscall: "connect" }),
    coded("ECONNRESET", { syscall: "connect" }),
    new AggregateError([coded("ECONNREFUSED"), coded("ENETUNREACH")], ""),
    Object.assign(new AggregateError([coded("ETIMEDOUT", { syscall: "connect" }), coded("ENETUNREACH")], ""), {
      code: "ETIMEDOUT",
    }),
    new Error("client error (Connect): tcp connect error: refused"),
    new Error("Proxy response (502) !== 200 when HTTP Tunneling"),
  ],
  lost: [
    ...[
      "ECONNRESET",
      "EPIPE",
      "ECONNABORTED",
      "ETIMEDOUT",
      "UND_ERR_SOCKET",
      "UND_ERR_HEADERS_TIMEOUT",
      "UND_ERR_BODY_TIMEOUT",
    ].map((code) => coded(code)),
    coded("HPE_INVALID_CONSTANT"),
    coded("UND_ERR_SOCKET", { cause: coded("ECONNRESET", { syscall: "read" }) }),
    // What macOS says of a socket that is being closed; not the handshake's EPROTO.
    coded("EPROTOTYPE", { syscall: "write" }),
    // The route of a connection that was there has gone.
    ...["EHOSTUNREACH", "ENETUNREACH", "ENETDOWN", "EHOSTDOWN", "ECONNREFUSED"].flatMap((code) => [
      coded(code, { syscall: "read" }),
      coded(code, { syscall: "write" }),
    ]),
    Object.assign(new Error("Invalid header token"), { name: "HTTPParserError" }),
  ],
  refused: [
    ...[
      "CERT_HAS_EXPIRED",
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      "SELF_SIGNED_CERT_IN_CHAIN",
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    ].map((code) => coded(code)),
    ...["ERR_TLS_CERT_ALTNAME_INVALID", "ERR_SSL_WRONG_VERSION_NUMBER", "EPROTO", "HOSTNAME_MISMATCH"].map((code) =>
      coded(code),
    ),
    new Error("bad port"),
    new Error("unknown scheme"),
    new TypeError("Headers.append: x is an invalid header value"),
    coded("UND_ERR_ABORTED", { message: "Proxy response (407) !== 200 when HTTP Tunneling" }),
  ],
} as const;

describe.each([
  ["never_sent", TABLE.never_sent],
  ["lost", TABLE.lost],
  ["refused", TABLE.refused],
] as const)("%s", (verdict, errors) => {
  const rows = errors.map(
    (error) => [String(error) + ("code" in error ? ` ${String(error.code)}` : ""), error] as const,
  );

  test.each(rows)("%s", (_, error) => {
    for (const given of [fetchFailed(error), fetchFailed(fetchFailed(error))]) {
      expect(verdictOf(given, platform)).toBe(verdict);
      if ("code" in error) expect(classify(given, platform).said.platformCode).toBe(error.code);
    }
  });

  test.each(rows)("%s, of a fetch of the application, may have come after the response", (_, error) => {
    expect(verdictOf(fetchFailed(error), application)).toBe(verdict === "refused" ? "unexplained" : "lost");
  });

  test.each(rows)("%s, of whichever fetch, when headers have left: it may have been applied", (_, error) => {
    for (const source of ["platform", "application"] as const) {
      const { isSent } = classify(fetchFailed(error), { baseUrl, source, request: LEFT });
      expect(isSent).toBe(true);
    }
  });

  test.each(rows)("%s, that names nobody, is not believed of a wrapped fetch either", (_, error) => {
    expect(classify(fetchFailed(error), { baseUrl, source: "platform" }).isSent).toBe(true);
  });

  test.each(rows)("%s, before any fetch was called: nothing was sent", (_, error) => {
    expect(verdictOf(error, { baseUrl, source: "request" })).toBe("refused");
  });
});

test.each([
  new TypeError("Failed to fetch"),
  new TypeError("Load failed"),
  new TypeError("NetworkError when attempting to fetch resource."),
  new TypeError("fetch failed"),
  new TypeError("terminated"),
  new TypeError("network error"),
  new TypeError(" A network error occurred."),
  new TypeError("The Internet connection appears to be offline."),
  new TypeError("The network connection was lost."),
  new TypeError("Could not connect to the server."),
  new TypeError("Network request failed"),
  new TypeError("error sending request for url (https://service.example.com/)"),
  Object.assign(new Error("Network connection lost."), { retryable: true }),
  new DOMException("The operation was aborted due to timeout", "TimeoutError"),
])("%s: a platform without codes may have sent the request", (error) => {
  for (const context of [platform, application]) {
    expect(verdictOf(error, context)).toBe("lost");
    expect(classify(error, context).said.platformCode).toBeUndefined();
    expect(verdictOf(new Error("wrapped", { cause: error }), context)).toBe("lost");
  }
});

test.each([
  undefined,
  null,
  "x",
  5,
  {},
  new Error("mine"),
  new TypeError("x is not a function"),
  { code: 5 },
  { code: "" },
])("%o, which nobody knows, may pass, and was perhaps sent", (error) => {
  for (const context of [platform, application]) {
    expect(verdictOf(error, context)).toBe("lost");
    expect(classify(error, context).words).not.toContain("reach");
    expect(classify(error, context).said.platformCode).toBeUndefined();
  }
});

test("a fetch that ends without a response will do so again", () => {
  expect(verdictOf(new TypeError("it resolved with nothing, not with a response"), application)).toBe("unexplained");
});

describe("an error that ended the connecting, as Node tells", () => {
  test.each<[string, unknown]>([
    ...[...TABLE.never_sent, ...TABLE.lost].map((error): [string, unknown] => [JSON.stringify(error), error]),
    ["a page's words", new TypeError("Failed to fetch")],
    ["an error of nobody", new Error("mine")],
    ["a look-up", coded("ESERVFAIL", { syscall: "queryA" })],
  ])("%s: never sent, whatever it is called", (_, error) => {
    for (const source of ["platform", "application"] as const) {
      expect(verdictOf(fetchFailed(error), { baseUrl, source, request: NEVER_CONNECTED })).toBe("never_sent");
    }
  });

  test.each(TABLE.refused.map((error) => [String(error), error] as const))(
    "%s: never sent, and will not be",
    (_, error) => {
      expect(verdictOf(fetchFailed(error), { ...platform, request: NEVER_CONNECTED })).toBe("refused");
    },
  );
});

describe("a process that may not connect", () => {
  test.each([
    coded("ERR_ACCESS_DENIED", { message: "Access to this API has been restricted" }),
    Object.assign(new Error('Requires net access to "service.example.com:443", run again with the --allow-net flag'), {
      name: "NotCapable",
    }),
  ])("%s: never sent, will not be, and names the flag", (error) => {
    const fault = classify(fetchFailed(error), platform);
    expect(fault).toMatchObject({ isSent: false, permanent: true, said: { host: "service.example.com" } });
    expect(fault.words).toContain("--allow-net");
  });

  test("on Deno, of a write that it sends once", () => {
    const error = Object.assign(new Error('Requires net access to "service.example.com:443", run again'), {
      name: "NotCapable",
    });
    const fault = { cause: error, source: "platform" } as const;
    expect(classifyFault({ ...fault, isSentOnce: true }, baseUrl)).toMatchObject({ isSent: false, permanent: true });
    expect(classifyFault({ ...fault, isSentOnce: false }, baseUrl)).toMatchObject({ isSent: true, permanent: true });
  });
});

describe("a read", () => {
  const tunnel = coded("UND_ERR_ABORTED", { message: "Proxy response (403) !== 200 when HTTP Tunneling" });
  const elsewhere = coded("ECONNREFUSED", { syscall: "connect", address: "10.0.0.9", port: 3128 });

  test.each(["platform", "application"] as const)(
    "of the %s's fetch, through a proxy that opens no tunnel",
    (source) => {
      const { words, permanent } = classifyFault({ cause: fetchFailed(tunnel), source, isRead: true }, baseUrl);
      expect([words, permanent]).toEqual(["a proxy opened no tunnel to {host} ({reason})", true]);
    },
  );

  test.each([
    ["platform", "no connection could be made to {host} ({code})"],
    ["application", "the fetch of the application failed: {why}"],
  ] as const)("of the %s's fetch, whose error names another host", (source, words) => {
    expect(classifyFault({ cause: fetchFailed(elsewhere), source, isRead: true }, baseUrl).words).toBe(words);
  });
});

describe("a fetch of the application is believed about the host of the service", () => {
  const notFound = (hostname: string): Error => coded("ENOTFOUND", { syscall: "getaddrinfo", hostname });
  const refused = (address: string, port: number): Error =>
    coded("ECONNREFUSED", { syscall: "connect", address, port });
  const said = (message: string): Error => coded("ECONNREFUSED", { message });

  test.each<[string, string, Error]>([
    ["its name", "https://service.example.com/api", notFound("service.example.com")],
    ["its name, with a port", "https://service.example.com:8443/api", notFound("service.example.com")],
    ["its address and port", "http://10.0.0.7:8080/api", refused("10.0.0.7", 8080)],
    ["the port of https:", "https://10.0.0.7/api", refused("10.0.0.7", 443)],
    ["the port of http:", "http://10.0.0.7/api", refused("10.0.0.7", 80)],
    ["an IPv6 address", "http://[::1]:8080/api", refused("::1", 8080)],
    ["localhost, at 127.0.0.1", "http://localhost:8080/api", refused("127.0.0.1", 8080)],
    ["localhost, at ::1", "http://localhost:8080/api", refused("::1", 8080)],
    [
      "localhost, at both",
      "http://localhost:8080/api",
      new AggregateError([refused("::1", 8080), refused("127.0.0.1", 8080)]),
    ],
    [
      "in words alone",
      "http://10.0.0.7:8080/api",
      said("request to / failed, reason: connect ECONNREFUSED 10.0.0.7:8080"),
    ],
    [
      "in undici's words",
      "https://service.example.com/api",
      coded("UND_ERR_CONNECT_TIMEOUT", {
        message: "Connect Timeout Error (attempted address: service.example.com:443, timeout: 10000ms)",
      }),
    ],
  ])("%s", (_, ours, error) => {
    const context = { baseUrl: ours, source: "application", request: NOT_SEEN } as const;
    expect(verdictOf(new Error("wrapped", { cause: fetchFailed(error) }), context)).toBe("never_sent");
    const expired = Object.assign(error instanceof AggregateError ? new Error() : error, {
      code: "CERT_HAS_EXPIRED",
      syscall: "",
    });
    if (!(error instanceof AggregateError)) expect(verdictOf(expired, context)).toBe("refused");
  });

  test.each<[string, string, Error]>([
    ["another name", "https://service.example.com/api", notFound("metrics.example.com")],
    ["a name within it", "https://service.example.com/api", notFound("example.com")],
    ["another port of its address", "http://10.0.0.7:8080/api", refused("10.0.0.7", 9090)],
    ["another port of localhost", "http://localhost:8080/api", refused("127.0.0.1", 9090)],
    ["another address", "http://10.0.0.7:8080/api", refused("10.0.0.8", 8080)],
    ["an address that its name may have or not", "https://service.example.com/api", refused("10.0.0.7", 443)],
    ["no host", "https://service.example.com/api", coded("ECONNREFUSED")],
    [
      "the service in the words of a wrapper alone",
      "https://service.example.com/api",
      said("service.example.com: refused"),
    ],
    [
      "one of two",
      "http://localhost:8080/api",
      new AggregateError([refused("127.0.0.1", 8080), refused("10.0.0.8", 8080)]),
    ],
    [
      "its name in an error around that of another",
      "https://service.example.com/api",
      Object.assign(new Error("no", { cause: refused("10.0.0.8", 9090) }), { hostname: "service.example.com" }),
    ],
  ])("and not about %s", (_, ours, error) => {
    expect(verdictOf(fetchFailed(error), { baseUrl: ours, source: "application" })).toBe("lost");
  });
});

describe("the evidence that a request was never sent", () => {
  const NAMED: readonly Named[] = ["service", "another", "none"];
  const SOURCES = ["platform", "application"] as const;

  test.each<[string, RequestEvidence | undefined, readonly Named[]]>([
    ["headers of it have left", LEFT, []],
    ["headers have left, and the error is another one", { ...LEFT, failed: false }, []],
    ["it failed with this error, before any headers left", UNSENT, NAMED],
    ["no request of it was seen", NOT_SEEN, ["service"]],
    ["the platform does not tell, and may have sent it before", undefined, []],
  ])("%s", (_, request, believed) => {
    for (const source of SOURCES) {
      expect(NAMED.filter((named) => isNeverSent({ source, request, named }))).toEqual(believed);
    }
  });

  test("the platform does not tell, and sent it at most once", () => {
    for (const source of SOURCES) {
      expect(NAMED.filter((named) => isNeverSent({ source, isSentOnce: true, named }))).toEqual(["service"]);
    }
  });

  test("what fetch itself does not take names nobody: believed of the platform's, where it tells of no request", () => {
    const takes = (source: FaultSource, request?: RequestEvidence): boolean =>
      isNeverSent({ source, request, named: "none" }, true);
    expect(takes("platform", NOT_SEEN)).toBe(true);
    expect(takes("platform", LEFT)).toBe(false);
    expect(takes("platform")).toBe(false);
    expect(takes("application", NOT_SEEN)).toBe(false);
  });
});

test("one dual-stack connection that was lost after connecting means that something may have been sent", () => {
  const mixed = new AggregateError([coded("ECONNREFUSED"), coded("ECONNRESET", { syscall: "read" })], "");
  expect(verdictOf(fetchFailed(mixed), platform)).toBe("lost");
});

test("cyclic and endless causes are bounded", () => {
  const one = new Error("one");
  const two = new Error("two", { cause: one });
  one.cause = two;
  expect(verdictOf(one, platform)).toBe("lost");
});

describe("in words", () => {
  const words = (error: unknown, context: Context = platform): string => {
    const fault = classify(error, context);
    return fault.words.replace(/\{(\w+)\}/g, (_, name: keyof typeof fault.said) => fault.said[name] ?? "");
  };
  const outer = (cause: Error): Error => new Error("outer", { cause });
  const corrupt = coded("Z_DATA_ERROR", { message: "incorrect header check" });

  test.each<[string, string, string]>([
    [
      "the deepest message is the reason",
      words(outer(new Error("inner", { cause: new Error("") })), application),
      "the fetch of the application failed: inner",
    ],
    [
      "with its code, where it does not hold that",
      words(outer(corrupt), application),
      "the fetch of the application failed: incorrect header check (Z_DATA_ERROR)",
    ],
    [
      "which is the reason, where there is no other",
      words(coded("E_MINE", { message: "" }), application),
      "the fetch of the application failed: E_MINE",
    ],
    [
      "the sentence of a mock that has no answer",
      words(fetchFailed(coded("ERR_NOCK_NO_MATCH", { message: "Nock: No match for request GET /projects" }))),
      "the request to service.example.com failed: Nock: No match for request GET /projects (ERR_NOCK_NO_MATCH)",
    ],
    [
      "a refusal that axios threw",
      words(coded("ERR_BAD_REQUEST", { message: "Request failed with status code 404" }), application),
      "the fetch of the application must return refusals: Request failed with status code 404 (ERR_BAD_REQUEST)",
    ],
    [
      "a refusal in the cause of what was thrown",
      words(outer(new Error("Request failed with status code 503: GET /projects")), application),
      "the fetch of the application must return refusals: Request failed with status code 503: GET /projects",
    ],
    [
      "a status code in an error of the platform's own fetch",
      words(outer(new Error("the upstream said status code 503"))),
      "the request to service.example.com failed: the upstream said status code 503",
    ],
    [
      "an error of no errors says what it says itself",
      words(new AggregateError([], "every address was refused"), application),
      "the fetch of the application failed: every address was refused",
    ],
    [
      "a host that is not the service is named",
      words(fetchFailed(coded("ECONNREFUSED", { syscall: "connect", address: "10.0.0.9", port: 3128 }))),
      "no connection could be made to service.example.com at 10.0.0.9:3128, its address or that of a proxy (ECONNREFUSED)",
    ],
    [
      "the service is named once",
      words(fetchFailed(coded("ENOTFOUND", { hostname: "service.example.com" }))),
      "no connection could be made to service.example.com (ENOTFOUND)",
    ],
    [
      "a proxy, with its status",
      words(coded("UND_ERR_ABORTED", { message: "Proxy response (407) !== 200 when HTTP Tunneling" })),
      "a proxy opened no tunnel to service.example.com (Proxy response (407) !== 200 when HTTP Tunneling)",
    ],
    [
      "a page may not be allowed to call the service",
      words(new TypeError("Failed to fetch")),
      "the connection was lost to service.example.com (Failed to fetch); in a page, the service may not allow its origin (CORS)",
    ],
    [
      "a device that is offline, where CORS is not to blame",
      words(new TypeError("Failed to fetch"), { ...platform, isOffline: true }),
      "the connection was lost to service.example.com (Failed to fetch); this device is offline",
    ],
    [
      "a refusal that may be that of a second try",
      words(coded("ECONNREFUSED"), { baseUrl, source: "platform" }),
      "the last try to connect to service.example.com failed (ECONNREFUSED)",
    ],
    [
      "an error that nobody knows",
      words(coded("Malformed_HTTP_Response", { message: "fetch() failed" })),
      "the request to service.example.com failed: fetch() failed (Malformed_HTTP_Response)",
    ],
    [
      "a connection that broke",
      words(coded("ECONNRESET")),
      "the connection was lost to service.example.com (ECONNRESET)",
    ],
    [
      "an invalid certificate",
      words(fetchFailed(coded("CERT_HAS_EXPIRED"))),
      "the request failed to reach service.example.com (CERT_HAS_EXPIRED)",
    ],
    [
      "a response that is not HTTP",
      words(fetchFailed(coded("HPE_INVALID_CONSTANT", { message: "Expected HTTP/" }))),
      "the response of service.example.com could not be read: Expected HTTP/ (HPE_INVALID_CONSTANT)",
    ],
    [
      "headers that are too large",
      words(fetchFailed(coded("UND_ERR_HEADERS_OVERFLOW", { message: "Headers Overflow Error" }))),
      "the response of service.example.com could not be read: Headers Overflow Error (UND_ERR_HEADERS_OVERFLOW)",
    ],
    [
      "a body that cannot be decompressed",
      words(new TypeError("terminated", { cause: corrupt }), { baseUrl, source: "response" }),
      "the response of service.example.com could not be read: incorrect header check (Z_DATA_ERROR)",
    ],
  ])("%s", (_, said, expected) => {
    expect(said).toBe(expected);
  });
});

test.each(["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG"])("%s: the port speaks http:", (code) => {
  expect(classify(fetchFailed(coded(code)), platform).words).toContain("this port speaks http:, not https:");
});
