import fc from "fast-check";
import { expect, test } from "vitest";
import { flawOfToken } from "../../../src/auth/token-format.ts";

test("any run of visible ASCII is a token, whatever it means", () => {
  const visible = fc.stringMatching(/^[\x21-\x7e]+$/);
  fc.assert(
    fc.property(visible, (token) => {
      expect(flawOfToken(token)).toBeUndefined();
      expect(new Headers({ authorization: `Bearer ${token}` }).get("authorization")).toBe(`Bearer ${token}`);
    }),
  );
});

test("anything else in it is a flaw, told by its place and never shown", () => {
  const visible = fc.stringMatching(/^[\x21-\x7e]{6,12}$/);
  const foreign = fc.string({ unit: "binary", minLength: 1, maxLength: 1 }).filter((one) => !/^[\x21-\x7e]$/.test(one));
  fc.assert(
    fc.property(visible, foreign, visible, (before, one, after) => {
      const flaw = flawOfToken(before + one + after) ?? expect.fail("no flaw");
      expect(flaw).not.toContain(before);
      expect(flaw).not.toContain(after);
      if (!/^bearer\s/i.test(before + one)) expect(flaw).toContain(`index ${before.length}`);
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
  expect(flawOfToken(token)).toContain(words);
});

test("a token that only looks like a scheme is one", () => {
  expect(flawOfToken("Bearer")).toBeUndefined();
  expect(flawOfToken("bearer_abc")).toBeUndefined();
});
