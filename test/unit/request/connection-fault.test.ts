import { describe, expect, test } from "vitest";
import { classifyFault, type Sending } from "../../../src/request/connection-fault.ts";

const coded = (code: string, more: object = {}): Error => Object.assign(new Error(code), { code, ...more });
const fetchFailed = (cause: unknown): TypeError => new TypeError("fetch failed", { cause });
const baseUrl = "https://service.example.com/api/v1";
const platform: Sending = { baseUrl, sender: "platform" };
const application: Sending = { baseUrl, sender: "application" };

/** What is known of the request, by how its connection failed. */
const VERDICTS = {
  never_sent: { isSent: false, isPermanent: false },
  refused: { isSent: false, isPermanent: true },
  lost: { isSent: true, isPermanent: false },
  unexplained: { isSent: true, isPermanent: true },
} as const;

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
      const found = classifyFault(given, platform);
      expect(found).toMatchObject(VERDICTS[verdict]);
      if ("code" in error) expect(found.platformCode).toBe(error.code);
    }
  });

  test.each(rows)("%s, of a fetch of the application, may have come after the response", (_, error) => {
    const found = classifyFault(fetchFailed(error), application);
    expect(found).toMatchObject(VERDICTS[verdict === "refused" ? "unexplained" : "lost"]);
  });

  test.each(rows)("%s, before any fetch was called: nothing was sent", (_, error) => {
    expect(classifyFault(error, { baseUrl, sender: undefined })).toMatchObject(VERDICTS.refused);
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
  for (const sending of [platform, application]) {
    expect(classifyFault(error, sending)).toMatchObject({ ...VERDICTS.lost, platformCode: undefined });
    expect(classifyFault(new Error("wrapped", { cause: error }), sending)).toMatchObject(VERDICTS.lost);
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
])("%o is not sent again, and was perhaps sent", (error) => {
  for (const sending of [platform, application]) {
    expect(classifyFault(error, sending)).toMatchObject({ ...VERDICTS.unexplained, platformCode: undefined });
  }
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
    const sending = { baseUrl: ours, sender: "application" } as const;
    expect(classifyFault(new Error("wrapped", { cause: fetchFailed(error) }), sending)).toMatchObject(
      VERDICTS.never_sent,
    );
    const expired = Object.assign(error instanceof AggregateError ? new Error() : error, {
      code: "CERT_HAS_EXPIRED",
      syscall: "",
    });
    if (!(error instanceof AggregateError)) expect(classifyFault(expired, sending)).toMatchObject(VERDICTS.refused);
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
    expect(classifyFault(fetchFailed(error), { baseUrl: ours, sender: "application" })).toMatchObject(VERDICTS.lost);
  });
});

test("one dual-stack connection that was lost after connecting means that something may have been sent", () => {
  const mixed = new AggregateError([coded("ECONNREFUSED"), coded("ECONNRESET", { syscall: "read" })], "");
  expect(classifyFault(fetchFailed(mixed), platform)).toMatchObject(VERDICTS.lost);
});

test("cyclic and endless causes are bounded", () => {
  const one = new Error("one");
  const two = new Error("two", { cause: one });
  one.cause = two;
  expect(classifyFault(one, platform)).toMatchObject(VERDICTS.unexplained);
});

describe("for the message", () => {
  test("the deepest message is the reason", () => {
    const error = new Error("outer", { cause: new Error("inner", { cause: new Error("") }) });
    expect(classifyFault(error, application)).toMatchObject({ culprit: "fetch", reason: "inner" });
  });

  test("a host that is not the service is named", () => {
    const proxy = coded("ECONNREFUSED", { syscall: "connect", address: "10.0.0.9", port: 3128 });
    expect(classifyFault(fetchFailed(proxy), platform)).toMatchObject({ elsewhere: "10.0.0.9:3128" });
    const ours = coded("ENOTFOUND", { hostname: "service.example.com" });
    expect(classifyFault(fetchFailed(ours), platform).elsewhere).toBeUndefined();
  });

  test.each([
    ["proxy", coded("UND_ERR_ABORTED", { message: "Proxy response (407) !== 200 when HTTP Tunneling" })],
    ["page", new TypeError("Failed to fetch")],
    [undefined, coded("ECONNRESET")],
  ])("%s is told by what the platform says", (culprit, error) => {
    expect(classifyFault(error, platform).culprit).toBe(culprit);
  });
});
