import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ConnectionError } from "../../../../src/client/index.ts";
import { problemOfToken, recordIn, usableFields } from "../../../../src/core/token/token-format.ts";
import { anyCharacter } from "../../../support/characters.ts";

/** In quotes, or as tools write a value that is to be filled in. */
const IS_WRITTEN_WRONG = /^["'].*["']$|^[$%<[{]|^(?:undefined|null)$/is;

test("any string of visible ASCII is a valid token, unless it stands in quotes or is a placeholder", () => {
  const visible = fc.stringMatching(/^[\x21-\x7e]+$/).filter((text) => !IS_WRITTEN_WRONG.test(text));
  fc.assert(
    fc.property(visible, (token) => {
      expect(problemOfToken(token)).toBeUndefined();
      expect(new Headers({ authorization: `Bearer ${token}` }).get("authorization")).toBe(`Bearer ${token}`);
    }),
  );
});

test("the error for any other character has its index and not the token", () => {
  const visible = fc.stringMatching(/^[\x21-\x7e]{6,12}$/);
  const foreign = fc
    .string({ unit: anyCharacter, minLength: 1, maxLength: 1 })
    .filter((one) => !/^[\x21-\x7e]$/.test(one));
  fc.assert(
    fc.property(visible, foreign, visible, (before, one, after) => {
      const problem = problemOfToken(before + one + after) ?? expect.fail("no problem");
      expect(problem).not.toContain(before);
      expect(problem).not.toContain(after);
      const isSpecial = /^bearer\s/i.test(before + one) || IS_WRITTEN_WRONG.test(before + one + after);
      if (!isSpecial) expect(problem).toContain(`index ${before.length}`);
    }),
  );
});

test.each([
  ["", "empty"],
  ["Bearer abc", "omit the scheme"],
  ["BEARER\tabc", "omit the scheme"],
  [" Bearer abc", "index 0"],
  ["abc\n", "index 3"],
  ["abc\r\nx: y", "index 3"],
  ["é", "non-ASCII"],
  [undefined, "undefined"],
  [null, "null"],
  [5, "number"],
  [{}, "object"],
])("%j: %s", (token, words) => {
  expect(problemOfToken(token)).toContain(words);
});

test("a token that only looks like a scheme is valid", () => {
  expect(problemOfToken("Bearer")).toBeUndefined();
  expect(problemOfToken("bearer_abc")).toBeUndefined();
});

/** What is usable of the text that a failed rotation left. */
const usableIn = (text: string | undefined) =>
  usableFields(recordIn(new ConnectionError("cut off", { rawBody: text })));

describe("of a token record", () => {
  const record = { id: "t2", plaintext: "pat_k_secret", expires_at: "2030-01-01T00:00:00Z" };

  test.each<[what: string, body: unknown, usable: object]>([
    ["all fields and others", { ...record, name: "ci" }, { ...record, name: "ci" }],
    [
      "an offset in place of Z",
      { expires_at: "2030-01-01T00:00:00.5+02:00" },
      { expires_at: "2030-01-01T00:00:00.5+02:00" },
    ],
    ["an id that is no string", { ...record, id: 5 }, { plaintext: record.plaintext, expires_at: record.expires_at }],
    ["an empty id", { id: "" }, {}],
    ["a plaintext that cannot be sent", { plaintext: "with space" }, {}],
    ["an expiry that is no timestamp", { expires_at: "never" }, {}],
    ["a list", [record], {}],
    ["null", null, {}],
  ])("with %s, the valid fields are usable", (_, body, usable) => {
    expect(usableIn(JSON.stringify(body))).toEqual(usable);
  });

  test("wherever it is cut, exactly the fields before are usable", () => {
    const tricky = { scopes: ["a,b", '{"'], nested: { plaintext: "no" }, name: 'a, "plaintext":"x" \\', ...record };
    const text = JSON.stringify(tricky);
    const fields = Object.entries(record).map(([key, value]) => {
      const written = `"${key}":"${value}"`;
      return { key, value, end: text.lastIndexOf(written) + written.length };
    });
    for (let cut = 0; cut <= text.length; cut += 1) {
      const { id, plaintext, expires_at } = usableIn(text.slice(0, cut));
      const whole = Object.fromEntries(fields.filter(({ end }) => cut >= end).map(({ key, value }) => [key, value]));
      expect({ id, plaintext, expires_at }, text.slice(0, cut)).toEqual(whole);
    }
  });

  test("a large text that is torn is read once, not once for each of its fields", () => {
    const text = `{"plaintext":"pat_k_secret",${'"a":1,'.repeat(300_000)}"b`;
    expect(usableIn(text)).toMatchObject({ plaintext: "pat_k_secret" });
  });

  test.each([undefined, "", "<html>", '{"id":'])("that is no JSON (%j), nothing is usable", (text) => {
    expect(usableIn(text)).toEqual({});
  });
});

test.each(['"a_b_c"', "'a_b_c'", '""'])("%s stands in quotes, which a file may have kept", (token) => {
  expect(problemOfToken(token)).toBe("must be the token alone: leave out the quotes (docker --env-file keeps them)");
});
