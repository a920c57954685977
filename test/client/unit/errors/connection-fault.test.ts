/** The words of a failed connection, and whether it will fail again. Neither says whether a write was sent. */
import { describe, expect, test } from "vitest";
import { classifyFault, type Fault } from "../../../../src/core/errors/connection-fault.ts";

const coded = (code: string, message = code): Error => Object.assign(new Error(message), { code });
const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });

/** The message, and `!` where sending it again cannot help. */
function wordsOf(cause: unknown, fault: Partial<Fault> = {}): string {
  const baseUrl = "https://service.example.com/api/v1";
  const { what, why, advice = "", permanent } = classifyFault({ cause, stage: "sending", ...fault }, baseUrl);
  return `${what}: ${why}${advice}${permanent ? "!" : ""}`;
}

const tunnel = (status: number): string => `Proxy response (${status}) !== 200 when HTTP Tunneling`;
const FAILED = "the request to service.example.com failed: ";

/** By what follows the error's own words. A code alone is an error with that code. */
const TABLE: Readonly<Record<string, readonly (string | Error)[]>> = {
  "": [
    ...["ECONNREFUSED", "ENOTFOUND", "ECONNRESET", "UND_ERR_SOCKET", "UND_ERR_CONNECT_TIMEOUT"],
    // What macOS says of a socket that is being closed; not the handshake's EPROTO.
    "EPROTOTYPE",
    // A part of Node, or a mock.
    "ERR_NOCK_NO_MATCH",
    ...["terminated", "network error", "x is not a function"].map((text) => new TypeError(text)),
    ...["HPE_INVALID_CONSTANT", named("HTTPParserError", "Invalid header token")],
    new Error(tunnel(502)),
  ],
  "!": [
    ...["CERT_HAS_EXPIRED", "DEPTH_ZERO_SELF_SIGNED_CERT", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", "HOSTNAME_MISMATCH"],
    ...["ERR_TLS_CERT_ALTNAME_INVALID", "EPROTO", "UND_ERR_INVALID_ARG"],
    ...["bad port", "unknown scheme", "Headers.append: x is an invalid header value"].map((text) => new Error(text)),
    ...[new Error(tunnel(407)), new TypeError("fetch resolved with nothing, not with a response")],
  ],
  "; this process needs --allow-net!": ["ERR_ACCESS_DENIED", named("NotCapable", 'Requires net access to "a:443"')],
  "; this port speaks http:, not https:!": ["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG"],
  "; fetch must return refusals, not throw them": [new Error("Request failed with status code 404")],
  "; in a page, the service may not allow its origin (CORS)": [
    ...["Failed to fetch", "Load failed", "NetworkError when attempting to fetch."].map((text) => new TypeError(text)),
  ],
};

describe.each(Object.entries(TABLE))("… failed: …%s", (end, errors) => {
  test.each(errors.map((one) => (typeof one === "string" ? coded(one) : one)))("%s", (error) => {
    expect(wordsOf(error)).toBe(FAILED + error.message + end);
    expect(wordsOf(new Error("outer", { cause: error }))).toBe(FAILED + error.message + end);
  });
});

test.each<[Partial<Fault>, string]>([
  [{ stage: "making" }, "the request could not be made: CERT_HAS_EXPIRED!"],
  [{ stage: "reading" }, "the response of service.example.com could not be read: CERT_HAS_EXPIRED"],
  [{ isOffline: true }, `${FAILED}CERT_HAS_EXPIRED!`],
])("%o", (fault, expected) => {
  expect(wordsOf(coded("CERT_HAS_EXPIRED"), fault)).toBe(expected);
});

test("a browser that is certain of it says that it has no network", () => {
  expect(wordsOf(new TypeError("Failed to fetch"), { isOffline: true })).toBe(
    `${FAILED}Failed to fetch; this device is offline`,
  );
});

describe("the reason", () => {
  const outer = (cause: Error): Error => new Error("outer", { cause });
  test.each<[string, unknown, string]>([
    ["is the deepest message", outer(new Error("inner", { cause: new Error("") })), "inner"],
    [
      "has its code, where it does not hold that",
      outer(coded("Z_DATA_ERROR", "incorrect header check")),
      "incorrect header check (Z_DATA_ERROR)",
    ],
    ["is the code, where there is no other", coded("E_MINE", ""), "E_MINE"],
    [
      "is the last of several errors",
      new AggregateError([coded("ECONNREFUSED"), coded("ENETUNREACH")], ""),
      "ENETUNREACH",
    ],
    [
      "is that of an error of no errors",
      new AggregateError([], "every address was refused"),
      "every address was refused",
    ],
    ["of no error", undefined, "it does not say why"],
    ["of no text", { code: 5 }, "it does not say why"],
  ])("%s", (_, cause, reason) => {
    expect(wordsOf(cause)).toBe(FAILED + reason);
  });

  test("is bounded where causes are a circle", () => {
    const one = new Error("one");
    one.cause = new Error("two", { cause: one });
    expect(wordsOf(one)).toBe(`${FAILED}two`);
  });
});
