import { describe, expect, test } from "vitest";
import { classifyFault } from "../../../src/request/connection-fault.ts";

const coded = (code: string, more: object = {}): Error => Object.assign(new Error(code), { code, ...more });
const fetchFailed = (cause: unknown): TypeError => new TypeError("fetch failed", { cause });

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
  ],
  permanent: [
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
  ],
} as const;

describe.each(Object.entries(TABLE))("%s", (fault, errors) => {
  test.each(errors.map((error) => [String(error) + ("code" in error ? ` ${String(error.code)}` : ""), error] as const))(
    "%s",
    (_, error) => {
      const expected = {
        fault,
        notSent: fault !== "lost",
        platformCode: "code" in error ? error.code : expect.anything(),
      };
      for (const given of [fetchFailed(error), fetchFailed(fetchFailed(error))]) {
        const found = classifyFault(given, true);
        expect(found).toMatchObject({ fault: expected.fault, notSent: expected.notSent });
        if ("code" in error) expect(found.platformCode).toBe(error.code);
      }
    },
  );
});

test("the error of workerd for every broken connection, also a refused one, is not a known network failure", () => {
  const error = Object.assign(new Error("Network connection lost."), { retryable: true });
  expect(classifyFault(error, false)).toEqual({ fault: "lost", notSent: false, platformCode: undefined });
});

test("only known failures of the network may be retried", () => {
  for (const error of [new TypeError("Failed to fetch"), new TypeError("Load failed"), fetchFailed(undefined)]) {
    expect(classifyFault(error, true)).toEqual({ fault: "lost", notSent: false, platformCode: undefined });
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
])("%o, of a fetch of the caller's own, is not sent again, and was perhaps sent", (error) => {
  expect(classifyFault(error, false)).toEqual({ fault: "permanent", notSent: false, platformCode: undefined });
});

test("a code counts also with a fetch that is not the platform's", () => {
  expect(classifyFault(coded("ECONNREFUSED"), false).fault).toBe("never_sent");
  expect(classifyFault({ code: "ECONNRESET" }, false).fault).toBe("lost");
});

test("one dual-stack connection that was lost after connecting means that something may have been sent", () => {
  const mixed = new AggregateError([coded("ECONNREFUSED"), coded("ECONNRESET", { syscall: "read" })], "");
  expect(classifyFault(fetchFailed(mixed), true).notSent).toBe(false);
});

test("cyclic and endless causes are bounded", () => {
  const one = new Error("one");
  const two = new Error("two", { cause: one });
  one.cause = two;
  expect(classifyFault(one, true).fault).toBe("lost");
});
