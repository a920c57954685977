import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AbortError } from "../../../src/index.ts";
import { REDACTED, Redactor } from "../../../src/request/redact.ts";
import { textsOf } from "../../support/sweep.ts";

const TOKEN = "pat_public_verySecretPart";
const redactor = new Redactor([TOKEN]);

describe("text", () => {
  test("a token and its secret part are redacted everywhere, its public part is kept", () => {
    expect(redactor.text(`Bearer ${TOKEN}, ${TOKEN}${TOKEN}; xverySecretParty`)).toBe(
      `Bearer ${REDACTED}, ${REDACTED}${REDACTED}; x${REDACTED}y`,
    );
    expect(redactor.text("pat_public_other public")).toBe("pat_public_other public");
  });

  test("any token of visible ASCII is found in any text", () => {
    const token = fc.stringMatching(/^[\x21-\x7e]{8,40}$/);
    const around = fc.stringMatching(/^[\x20-\x7e]{0,20}$/);
    fc.assert(
      fc.property(token, around, around, (secret, before, after) => {
        const clean = new Redactor([secret]).text(`${before}${secret}${after}`);
        // The token can be in the result only if the replacement text and the text around it spell it.
        expect(clean.replaceAll(REDACTED, "\n").includes(secret)).toBe(false);
      }),
    );
  });

  test("a short token is redacted as a whole word only", () => {
    const short = new Redactor(["t"]);
    expect(short.text("Bearer t")).toBe(`Bearer ${REDACTED}`);
    expect(short.text("the text is not it")).toBe("the text is not it");
  });

  test("no token, or an empty one, changes nothing", () => {
    expect(new Redactor([]).text("abc")).toBe("abc");
    expect(new Redactor([""]).text("abc")).toBe("abc");
  });

  test("no part is left of two tokens of which one contains the other", () => {
    const both = new Redactor(["pat_a_12345678", "pat_a_12345678_longer90"]);
    expect(both.text("x pat_a_12345678_longer90 y pat_a_12345678 z")).toBe(`x ${REDACTED} y ${REDACTED} z`);
  });
});

describe("a text that ends within a secret", () => {
  test.each(["", "...", "…", '"', ' "', "..."])("loses the beginning of it, before %j", (end) => {
    for (let length = 6; length < TOKEN.length; length += 1) {
      const clean = redactor.text(`denied for ${TOKEN.slice(0, length)}${end}`);
      expect(clean).not.toContain(TOKEN.slice(0, 6));
      expect(clean).toContain("denied for [redacted]");
    }
  });

  test("a secret is redacted in its URL-encoded and JSON-encoded forms, too", () => {
    const odd = new Redactor(['ab"c/d+e=f"gh']);
    expect(odd.text(`x=${encodeURIComponent('ab"c/d+e=f"gh')}&y`)).toBe(`x=${REDACTED}&y`);
    expect(odd.text(JSON.stringify({ x: 'ab"c/d+e=f"gh' }))).toBe(`{"x":"${REDACTED}"}`);
  });

  test("the values of secret headers are redacted, those of others are kept", () => {
    const headers = new Redactor([], { "x-api-key": "k-123456789", "x-team": "blue-team-1" });
    expect(headers.text("k-123456789 of blue-team-1")).toBe(`${REDACTED} of blue-team-1`);
  });
});

describe("the queue", () => {
  test("is one line without control and direction characters, redacted before it is shortened", () => {
    expect(redactor.line("a\r\nb\u0085c\u001b[31m\u202ed", 50)).toBe("a b c [31m d");
    expect(redactor.line(`${"x".repeat(20)}${TOKEN}`, 40)).not.toContain("pat_pu");
    expect(redactor.line("x".repeat(400), 300)).toBe(`${"x".repeat(299)}…`);
  });
});

describe("json", () => {
  test.each([
    "plaintext",
    "token",
    "access_token",
    "secret",
    "password",
    "authorization",
    "Authorization",
    "PLAINTEXT",
  ])("the field %s is hidden whatever it holds", (field) => {
    expect(redactor.json({ a: [{ [field]: "anything" }] })).toEqual({ a: [{ [field]: REDACTED }] });
  });

  test("a value without secrets is copied as an equal one", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value);
        if (/plaintext|token|secret|password|authorization|__proto__/i.test(text)) return;
        expect(redactor.json(JSON.parse(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  test("100 000 levels are cut off, not overflowed", () => {
    const deep: unknown = JSON.parse("[".repeat(100_000) + "]".repeat(100_000));
    expect(JSON.stringify(redactor.json(deep)).length).toBeLessThan(1_000);
  });

  test("a secret field that is an object, an array or a number is hidden as a whole; null and booleans are shown", () => {
    expect(redactor.json({ token: { a: "x" }, secrets: 1, secret: ["x"], password: 12, api_key: null })).toEqual({
      token: REDACTED,
      secrets: REDACTED,
      secret: REDACTED,
      password: REDACTED,
      api_key: null,
    });
  });

  test("a cycle and very many members are bounded", () => {
    const cycle: Record<string, unknown> = {};
    Object.assign(cycle, { left: cycle, right: cycle });
    expect(JSON.stringify(redactor.json(cycle)).length).toBeLessThan(1_000_000);
  });
});

describe("cause", () => {
  test("a foreign error without secrets is copied with its plain fields", () => {
    for (const value of [
      new TypeError("x", { cause: { a: [1] } }),
      { a: 1 },
      "text",
      5,
      null,
      undefined,
      Symbol("s"),
    ]) {
      expect(redactor.cause(value)).toEqual(value);
    }
    expect(redactor.cause(new TypeError("x", { cause: { a: [1] } }))).toMatchObject({ cause: { a: [1] } });
  });

  test("an error of this library is kept as it is", () => {
    const own = new AbortError("x");
    expect(redactor.cause(own)).toBe(own);
  });

  test("a foreign error with secrets is copied with its name, code and redacted text only", () => {
    const inner = Object.assign(new Error(`read ${TOKEN}`), { code: "ECONNRESET", request: { token: TOKEN } });
    const copy = redactor.cause(new TypeError(`failed ${TOKEN}`, { cause: inner }));
    expect(copy).toBeInstanceOf(Error);
    expect(copy).toMatchObject({
      name: "TypeError",
      message: `failed ${REDACTED}`,
      cause: { code: "ECONNRESET", message: `read ${REDACTED}` },
    });
    expect(textsOf(copy).join("\n")).not.toContain("verySecretPart");
  });

  test.each([
    ["a getter that gives it", Object.defineProperty(new Error("x"), "config", { get: () => TOKEN, enumerable: true })],
    [
      "an accessor on the prototype",
      new (class extends Error {
        get token(): string {
          return TOKEN;
        }
      })("x"),
    ],
    ["a nested AggregateError", new Error("x", { cause: new AggregateError([new Error("a", { cause: TOKEN })]) })],
    ["an array", [[TOKEN]]],
    ["a WeakRef-like holder", new Error("x", { cause: new Map([[{ k: 1 }, new Set([TOKEN])]]) })],
  ])("%s gives nothing away", (_, value) => {
    expect(textsOf(redactor.cause(value)).join("\n")).not.toContain("verySecretPart");
  });

  test("10 000 levels of causes do not overflow", () => {
    let error = new Error(TOKEN);
    for (let level = 0; level < 10_000; level += 1) error = new Error("x", { cause: error });
    expect(textsOf(redactor.cause(error)).join("\n")).not.toContain("verySecretPart");
  });
});
