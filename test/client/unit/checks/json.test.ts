import fc from "fast-check";
import { expect, test } from "vitest";
import { parseJson } from "../../../../src/core/wire/json.ts";
import { anyCharacter } from "../../../support/characters.ts";

test("any JSON is parsed as the platform does", () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: anyCharacter }), (text) => {
      expect(parseJson(text)).toEqual(withoutProto(JSON.parse(text) as unknown));
    }),
  );
});

test.each([
  '{"__proto__":{"polluted":1},"a":1}',
  '{"\\u005f_proto__":{"polluted":1},"a":1}',
  '{"__prot\\u006F__":{"polluted":1},"a":1}',
  '{"\\u005F\\u005F\\u0070\\u0072\\u006f\\u0074\\u006f\\u005f\\u005f":{"polluted":1},"a":1}',
])("%s pollutes nothing that it is copied to", (text) => {
  const parsed = parseJson(text) as { a: number; polluted?: number };
  expect(Object.keys(parsed)).toEqual(["a"]);
  for (const copy of [{ ...parsed }, Object.assign({}, parsed), structuredClone(parsed)]) {
    expect((copy as { polluted?: number }).polluted).toBeUndefined();
  }
  expect(({} as { polluted?: number }).polluted).toBeUndefined();
});

test("deeply nested members named __proto__ are left out too, arrays kept", () => {
  expect(parseJson('[{"a":[{"__proto__":1,"b":[2]}]},null]')).toEqual([{ a: [{ b: [2] }] }, null]);
});

test.each([
  "",
  " ",
  "{",
  "[1,]",
  "undefined",
  "NaN",
  "{'a':1}",
  "1 2",
  '{"a":1}{"b":2}',
  '{"a":1}\n{"b":2}',
  "<html>",
  '"\n"',
])("%j is no JSON", (text) => {
  expect(parseJson(text)).toBeUndefined();
});

test.each(["", '"__proto__"', '"\\u0041"'])("100 000 levels are read, also around %s", (inner) => {
  const depth = 100_000;
  let value = parseJson("[".repeat(depth) + inner + "]".repeat(depth));
  let levels = 0;
  while (Array.isArray(value)) {
    levels += 1;
    value = value[0];
  }
  expect(levels).toBe(depth);
});

test("400 000 values are read", () => {
  expect(parseJson(JSON.stringify(Array(400_000).fill(7)))).toHaveLength(400_000);
});

function withoutProto(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, member: unknown) => (key === "__proto__" ? undefined : member));
}
