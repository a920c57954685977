/** A long text of others costs in proportion to its length: milliseconds, not seconds. */
import { describe, expect, test } from "vitest";
import { Client } from "../../../src/client/index.ts";
import { Redactor } from "../../../src/core/secrets/redact.ts";
import { parseRetryAfter } from "../../../src/core/wire/retry-after.ts";
import { shareOf } from "../../support/all-tests.ts";

const TOKEN = "pat_public_verySecretPart";
const LENGTH = 64 * 1024;
/** Of processor time: many times what any of them takes; a scan that is quadratic takes ten seconds and more. */
const LIMIT_MS = 2_000;
const ERRORS = shareOf(5);

/** Processor time in milliseconds: unlike the time on a clock, a busy machine makes it no longer. */
function costOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

const FILLS = [
  ".",
  " ",
  "'",
  '"',
  "…",
  '"" ',
  '":',
  '" : "',
  "pat_",
  " pat_",
  "pat_public_",
  "-pat_-",
  "\u0000",
  "  \n",
  "=",
  "token=",
  'token"   :',
  "api_keyapi-key",
  "\\",
  "&amp;amp;",
];

describe.each(FILLS)("a text that is full of %j", (fill) => {
  const run = fill.repeat(Math.ceil(LENGTH / fill.length)).slice(0, LENGTH - 1);

  test.each(["x", ""])("and ends with %j", (end) => {
    const cost = costOf(() => {
      const cleaner = new Redactor({ tokens: [TOKEN] });
      expect(cleaner.text(`${TOKEN}${run}${end}`).includes(TOKEN)).toBe(false);
      expect(cleaner.line(`${run}${end}`, 300).length).toBeLessThanOrEqual(300);
    });
    expect(cost).toBeLessThan(LIMIT_MS);
  });
});

const TOKENS = {
  "a JWT of 8 KB": `eyJhbGciOiJSUzI1NiJ9.${"Ab-9_xYz".repeat(1_024)}`,
  "1 000 underscores": `${"_".repeat(1_000)}verySecretPart`,
  "1 000 segments": `${"a_".repeat(1_000)}verySecretPart`,
  "16 KB of letters": "letters".repeat(2_341),
  "16 KB of digits": "0123456".repeat(2_341),
};

describe.each(Object.entries(TOKENS))("a token that is %s", (_, token) => {
  const texts = [token.slice(0, -1), token.slice(0, 12), `${token} `, token.toUpperCase(), "%41", "&#65;", "a_"];

  test.each(texts.map((text) => [text.slice(0, 40), text]))("errors with a text that is full of %j", (_, text) => {
    const run = text.repeat(Math.ceil(LENGTH / text.length)).slice(0, LENGTH);
    const cost = costOf(() => {
      for (let n = 0; n < ERRORS; n += 1) {
        expect(new Redactor({ tokens: [token] }).text(run).includes(token)).toBe(false);
      }
    });
    expect(cost).toBeLessThan(LIMIT_MS / 2);
  });

  test("errors with a body of 9 000 short strings", () => {
    const body = Array.from({ length: 9_000 }, (_, n) => `s${n}`);
    const cost = costOf(() => {
      for (let n = 0; n < ERRORS; n += 1) expect(new Redactor({ tokens: [token] }).json(body)).toEqual(body);
    });
    expect(cost).toBeLessThan(LIMIT_MS / 2);
  });
});

test.each([" ", ",", "1", "Sat,", "Sat, ", "a"])("a Retry-After that is full of %j", (piece) => {
  expect(costOf(() => void parseRetryAfter(piece.repeat(60_000), null, 0))).toBeLessThan(LIMIT_MS);
});

test("a base URL with many slashes within it", () => {
  const baseUrl = `https://a.example/api/v1${"/".repeat(200_000)}x`;
  expect(costOf(() => void new Client({ baseUrl, token: TOKEN }))).toBeLessThan(LIMIT_MS);
});
