import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ArgumentError } from "../../../../src/client/index.ts";
import { INVALID } from "../../../../src/core/checks/validators.ts";
import { asErrorClass } from "../../../../src/core/errors/as-error-class.ts";
import { encodeQuery, QUERY } from "../../../../src/core/wire/query.ts";
import { anyCharacter } from "../../../support/characters.ts";

const text = fc.string({ unit: anyCharacter }).filter((value) => !/\p{Surrogate}/u.test(value));
const scalar = fc.oneof(text, fc.boolean(), fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));
const query = fc.dictionary(text, fc.oneof(scalar, fc.array(scalar), fc.constant(undefined)));

test("any query is decoded by a form decoder and by an RFC 3986 decoder, in order", () => {
  fc.assert(
    fc.property(query, (given) => {
      const expected = Object.entries(given).flatMap(([name, value]) =>
        (Array.isArray(value) ? value : value === undefined ? [] : [value]).map((one) => [name, String(one)]),
      );
      const encoded = encodeQuery(given);
      expect([...new URL(`https://example.com/x?${encoded}`).searchParams]).toEqual(expected);
      const strict = encoded
        .split("&")
        .filter(Boolean)
        .map((pair) => pair.split("=").map(decodeURIComponent));
      expect(strict).toEqual(expected);
      expect(encoded === "").toBe(expected.length === 0);
    }),
  );
});

test.each([null, 5, "a=1", ["a"], new URLSearchParams("a=1"), new Map([["a", "1"]]), new Set(["a"]), () => {}])(
  "%o is no query",
  (given) => {
    expect(QUERY.parse(given)).toBe(INVALID);
  },
);

test.each([
  null,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  {},
  [null],
  [undefined],
  [[1]],
  Symbol("s"),
  1n,
  "\ud800",
  () => {},
])("a parameter of %o is refused", (value) => {
  expect(() => asErrorClass(ArgumentError, () => encodeQuery({ a: value }))).toThrow(ArgumentError);
});

test("null-prototype objects are queries, inherited parameters are none", () => {
  expect(encodeQuery(Object.assign(Object.create(null) as object, { a: 1 }))).toBe("a=1");
  expect(encodeQuery({})).toBe("");
  expect(QUERY.parse(runInNewContext("({ a: 1 })"))).toEqual({ a: 1 });
});
