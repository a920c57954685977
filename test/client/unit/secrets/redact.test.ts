import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AbortError } from "../../../../src/client/index.ts";
import { REDACTED, Redactor } from "../../../../src/core/secrets/redact.ts";
import { textsOf } from "../../../support/sweep.ts";

const TOKEN = "pat_public_verySecretPart";
const redactor = new Redactor({ tokens: [TOKEN] });

test("nothing is prepared before the first text, since most calls look through none", () => {
  let readings = 0;
  const tokens = {
    *[Symbol.iterator]() {
      readings += 1;
      yield "pat_k1_verySecretPart01";
    },
  };
  const redactor = new Redactor({ tokens });
  expect(readings).toBe(0);
  expect(redactor.text("pat_k1_verySecretPart01")).toBe("[redacted]");
  redactor.text("another one");
  expect(readings).toBe(1);
});

describe("text", () => {
  test("a token and its secret part are redacted everywhere, its public part is kept", () => {
    expect(redactor.text(`Bearer ${TOKEN}, ${TOKEN} ${TOKEN}; xverySecretParty`)).toBe(
      `Bearer ${REDACTED}, ${REDACTED} ${REDACTED}; x${REDACTED}y`,
    );
    expect(redactor.text("pat_public_other public")).toBe("pat_public_other public");
  });

  test("a short token is redacted as a whole word only", () => {
    const short = new Redactor({ tokens: ["t"] });
    expect(short.text("Bearer t")).toBe(`Bearer ${REDACTED}`);
    expect(short.text("the text is not it")).toBe("the text is not it");
    expect(new Redactor({ tokens: ["7letter"] }).text("x7letter")).toBe("x7letter");
    expect(new Redactor({ tokens: ["8letters"] }).text("x8letters")).toBe(`x${REDACTED}`);
  });

  test("no token, or an empty one, changes nothing", () => {
    expect(new Redactor({ tokens: [] }).text("abc")).toBe("abc");
    expect(new Redactor({ tokens: [""] }).text("abc")).toBe("abc");
  });

  test("no part is left of two tokens of which one contains the other", () => {
    const both = new Redactor({ tokens: ["pat_a_12345678", "pat_a_12345678_longer90"] });
    expect(both.text("x pat_a_12345678_longer90 y pat_a_12345678 z")).toBe(`x ${REDACTED} y ${REDACTED} z`);
  });
});

test("a token of ordinary words hides no text that has these words", () => {
  const words = new Redactor({ tokens: ["my-development-token", "pat_key_projectautomation"] });
  const text = "not found in the development environment of this project: automation is off";
  expect(words.text(text)).toBe(text);
  expect(words.text("my-development-token!")).toBe(`${REDACTED}!`);
});

describe("a token that was cut off is still that token", () => {
  const SECRET = "verySecretPartOfIt";
  const formed = `pat_public_${SECRET}`;
  const cut = (token: string, text: string): string => new Redactor({ tokens: [token] }).text(text);

  test.each([8, 9, SECRET.length - 1, SECRET.length])("from eight characters of its secret part on: %i", (length) => {
    const part = SECRET.slice(0, length);
    for (const begun of [`pat_public_${part}`, part]) {
      expect(cut(formed, `Bearer ${begun}… was refused`)).toBe(`Bearer ${REDACTED}… was refused`);
      expect(cut(formed, `invalid ${begun}`)).toBe(`invalid ${REDACTED}`);
      expect(cut(formed, begun.toUpperCase())).toBe(REDACTED);
    }
  });

  test("its public parts are shown, and so is a shorter beginning", () => {
    const texts = ["pat_public_verySec", "the key pat_public_… of a", "verySec"];
    for (const text of texts) expect(cut(formed, text)).toBe(text);
  });
});

describe("a secret is found", () => {
  const SPELLINGS: Readonly<Record<string, (token: string) => string>> = {
    "as it is": (token) => token,
    "in lower case": (token) => token.toLowerCase(),
    "in upper case": (token) => token.toUpperCase(),
  };
  const secret = fc.stringMatching(/^[!-~]{24,40}$/).map((text) => `${text}Qx7Rz2Lm9Tw4`);
  const token = fc.oneof(
    secret,
    secret.map((text) => `pat_key_${text}`),
  );
  const PLACES = ["", " ", '"', "x=", "(", "https://a/b?t=", "</p>", "é "];
  const place = fc.constantFrom(...PLACES);

  test.each(Object.entries(SPELLINGS))("%s, in any place", (_, spell) => {
    fc.assert(
      fc.property(token, place, place, (known, before, after) => {
        const redactor = new Redactor({ tokens: [known] });
        const shown = redactor.text(`${before}${spell(known)}${after}`);
        expect(shown.toLowerCase().replaceAll(/[^a-z\d]/g, "")).not.toMatch(/qx7|rz2|lm9|tw4/);
        expect(redactor.text(`denied for ${spell(known)} today`)).toBe(`denied for ${REDACTED} today`);
      }),
      { numRuns: 200 },
    );
  });

  test("in a text of letters that become two in lower case", () => {
    expect(redactor.text(`İİİ ${TOKEN} İ`)).toBe(`İİİ ${REDACTED} İ`);
  });

  test("also behind a part of its public part", () => {
    expect(redactor.text("lic_verySecretPart and public_verySecretPart")).toBe(
      `lic_${REDACTED} and public_${REDACTED}`,
    );
  });
});

test("an id that ends with a time is not taken for a token", () => {
  const text = "there is no session run_web_20261122180059";
  expect(redactor.text(text)).toBe(text);
});

describe("headers of the caller", () => {
  const headers = { "x-api-key": "k-123456789", "x-team": "blue-team-1", "proxy-authorization": "Basic dXNlcjpwYXNz" };
  const cleaner = new Redactor({ tokens: [], headers });

  test("the values of secret ones are redacted, those of others are kept", () => {
    expect(cleaner.text("k-123456789 of blue-team-1")).toBe(`${REDACTED} of blue-team-1`);
  });

  test("the credential behind a scheme is redacted without the scheme, too", () => {
    expect(cleaner.text("bad credential dXNlcjpwYXNz for Basic dXNlcjpwYXNz")).toBe(
      `bad credential ${REDACTED} for ${REDACTED}`,
    );
  });
});

describe("values by their name in a text", () => {
  test.each([
    ["https://x.example/?access_token=abc12345&page=2", `https://x.example/?access_token=${REDACTED}&page=2`],
    ["password=swordfish; user=joe", `password=${REDACTED}; user=joe`],
    ["login failed, password: swordfish", `login failed, password: ${REDACTED}`],
    ["Password : swordfish\nuser: joe", `Password : ${REDACTED}\nuser: joe`],
    ["Authorization: Basic dXNlcjpwYXNz", `Authorization: Basic ${REDACTED}`],
    ['secret="a b c d e", realm="c"', `secret="${REDACTED}", realm="c"`],
    ["secret='a b c d e'", `secret='${REDACTED}'`],
    ['{"plaintext": "a\\"bcdefgh", "id": "c', `{"plaintext": "${REDACTED}", "id": "c`],
    ['"{\\"password\\":\\"swordfish\\"}"', `"{\\"password\\":\\"${REDACTED}\\"}"`],
    ["url=https://x.example/?access_token=abc12345&page=2", `url=https://x.example/?access_token=${REDACTED}&page=2`],
    ["token_id=tok_12345678&api-key=abc12345", `token_id=tok_12345678&api-key=${REDACTED}`],
    ["the token is not valid; tokens: none", "the token is not valid; tokens: none"],
    ["password=short; max_tokens=50", "password=short; max_tokens=50"],
  ])("%s", (text, clean) => {
    expect(redactor.text(text)).toBe(clean);
  });
});

test.each([
  [
    "postgres://vault:s3cr3t@vault.internal:5432/db is down",
    `postgres://vault:${REDACTED}@vault.internal:5432/db is down`,
  ],
  ["redis://:p@ss@10.0.0.9:6379", `redis://:${REDACTED}@10.0.0.9:6379`],
  [String.raw`{"url":"http:\/\/user:pw@proxy"}`, String.raw`{"url":"http:\/\/user:[redacted]@proxy"}`],
  ["https://api.example.com:8443/a@b", "https://api.example.com:8443/a@b"],
  ["https://user@host:8080/", "https://user@host:8080/"],
  ["at 10:30 joe@example.com", "at 10:30 joe@example.com"],
])("passwords in URLs: %s", (text, clean) => {
  expect(redactor.text(text)).toBe(clean);
});

describe("what quotes a response", () => {
  const quoting = redactor.alsoHiding({
    plaintext: "a-one-time-Secret",
    pin: 123456,
    list: ["open", 7, "no"],
    deep: [[true]],
  });
  test.each([
    ['expected string, received "a-one-time-secret"', `expected string, received "${REDACTED}"`],
    ["received a-one-time-Secret", `received ${REDACTED}`],
    ["received 123456, expected < 1000", `received ${REDACTED}, expected < 1000`],
    ["open is no state, reopened neither", `${REDACTED} is no state, reopened neither`],
    ["expected no more than 7", "expected no more than 7"],
    [`token ${TOKEN}`, `token ${REDACTED}`],
  ])("%s", (text, clean) => {
    expect(quoting.text(text)).toBe(clean);
  });

  test("numbers that were thrown are taken out, too", () => {
    expect(quoting.cause({ received: 123456, maximum: 10 })).toEqual({ received: REDACTED, maximum: 10 });
  });

  test("of a response with too many values nothing is shown", () => {
    const many = redactor.alsoHiding(Array.from({ length: 50_000 }, (_, n) => `secret-${n}`));
    expect(many.text(`${"x".repeat(500)} secret-1`)).toBe(REDACTED);
  });

  test("a response may be nested as deeply as JSON can be", () => {
    const deep: unknown = JSON.parse(`${"[".repeat(100_000)}"hidden-value"${"]".repeat(100_000)}`);
    expect(redactor.alsoHiding(deep).text("not hidden-value")).toBe(`not ${REDACTED}`);
  });
});

test("a text that is too long to be looked through is not shown", () => {
  expect(redactor.text("x".repeat(64 * 1024 + 1))).toBe("[too long]");
});

describe("a line", () => {
  test("is one line without control and direction characters, redacted before it is shortened", () => {
    expect(redactor.line("a\r\nb\u0085c\u001b[31m\u202ed", 50)).toBe("a b c [31m d");
    expect(redactor.line(`${"x".repeat(20)}${TOKEN}`, 40)).not.toContain("pat_pu");
    expect(redactor.line("x".repeat(400), 300)).toBe(`${"x".repeat(299)}…`);
  });
});

describe("json", () => {
  test.each([
    "PLAINTEXT",
    "access_token",
    "tokenValue",
    "secret",
    "password",
    "Authorization",
    "x-api-key",
    "privateKeys",
  ])("a text in the field %s is hidden", (field) => {
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

  const LONG = "swordfish";

  test.each(["tokenId", "credential_type", "secret_scanning_url", "token_count", "tokens_left", "secret_name"])(
    "%s describes a secret, and is shown",
    (field) => {
      expect(redactor.json({ [field]: LONG })).toEqual({ [field]: LONG });
    },
  );

  test("only a string of eight characters or more can be a secret", () => {
    const shown = { token: null, token_valid: false, max_tokens: 50, secret: "seven77", api_key: 12_345_678 };
    expect(redactor.json(shown)).toEqual(shown);
    expect(redactor.json({ secret: "eight888" })).toEqual({ secret: REDACTED });
  });

  test("in a secret field the members are secrets, but for those that describe it", () => {
    const body = { credentials: { user: LONG, id: "tok_12345678", list: [LONG, 5] }, a: [{ b: LONG }] };
    expect(redactor.json(body)).toEqual({
      credentials: { user: REDACTED, id: "tok_12345678", list: [REDACTED, 5] },
      a: [{ b: LONG }],
    });
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

  test("an object that refers to itself, or is too much to be read, is left out", () => {
    const cycle: Record<string, unknown> = {};
    Object.assign(cycle, { left: cycle, right: cycle });
    expect(redactor.cause(cycle)).toBeUndefined();
    expect(redactor.cause({ a: "x".repeat(100_000) })).toBeUndefined();
  });

  test("10 000 levels of causes do not overflow", () => {
    let error = new Error(TOKEN);
    for (let level = 0; level < 10_000; level += 1) error = new Error("x", { cause: error });
    expect(textsOf(redactor.cause(error)).join("\n")).not.toContain("verySecretPart");
  });
});
