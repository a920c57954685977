import fc from "fast-check";
import { expect, test } from "vitest";
import { boundsFor, DEFAULT_MAX_RESPONSE_BYTES, JsonBoundError, parseJson } from "../../../src/request/json.ts";

test("any JSON is parsed as the platform does", () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: "binary" }), (text) => {
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
  expect(() => parseJson(text)).toThrow();
});

test.each(["", '"__proto__"', '"\\u0041"'])("100 000 levels are read without bounds, also around %s", (inner) => {
  const depth = 100_000;
  let value = parseJson("[".repeat(depth) + inner + "]".repeat(depth));
  let levels = 0;
  while (Array.isArray(value)) {
    levels += 1;
    value = value[0];
  }
  expect(levels).toBe(depth);
});

const depthOf = (value: unknown): number =>
  typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
const valuesIn = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? 1 + Object.values(value).reduce<number>((sum, member) => sum + valuesIn(member), 0)
    : 1;

test("within its bounds a text is read as without them", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8, stringUnit: "binary" }), (text) => {
      const value = parseJson(text);
      const bounds = { maxDepth: depthOf(value), maxValues: text.length + 1 };
      expect(parseJson(text, bounds)).toEqual(value);
    }),
  );
});

test("a text with too many levels or values is rejected", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8, stringUnit: "binary" }), (text) => {
      const value: unknown = JSON.parse(text);
      const [maxDepth, maxValues] = [depthOf(value), valuesIn(value)];
      if (maxDepth > 0)
        expect(() => parseJson(text, { maxDepth: maxDepth - 1, maxValues: 1e6 })).toThrow(JsonBoundError);
      expect(() => parseJson(text, { maxDepth, maxValues: maxValues - 1 })).toThrow(JsonBoundError);
    }),
  );
});

test("brackets and commas in strings are no levels and no values", () => {
  const text = JSON.stringify({ a: '[[[[,,,,{{{{\\"[[,', "[{": "\\" });
  expect(parseJson(text, { maxDepth: 1, maxValues: 3 })).toEqual(JSON.parse(text));
});

test.each([
  { what: "levels", text: "[".repeat(1_001) + "]".repeat(1_001), bound: "maxDepth", limit: 1_000 },
  { what: "levels of objects", text: '{"a":'.repeat(1_001) + 0 + "}".repeat(1_001), bound: "maxDepth", limit: 1_000 },
  { what: "numbers", text: `[${"0,".repeat(32_768)}0]`, bound: "maxValues", limit: 32_768 },
  { what: "arrays", text: `[${"[],".repeat(32_768)}[]]`, bound: "maxValues", limit: 32_768 },
  {
    what: "keys",
    text: `{${Array.from({ length: 32_769 }, (_, n) => `"${n}":0`).join()}}`,
    bound: "maxValues",
    limit: 32_768,
  },
])("by default there is a bound on $what", ({ text, bound, limit }) => {
  let error: unknown;
  try {
    parseJson(text, boundsFor(DEFAULT_MAX_RESPONSE_BYTES));
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(JsonBoundError);
  expect(error).toMatchObject({ bound, limit });
});

test("the bound on values grows with the size that a response may have, the one on levels does not", () => {
  expect(boundsFor(64 * 1024 * 1024)).toEqual({ maxDepth: 1_000, maxValues: 524_288 });
  expect(parseJson(`[${"0,".repeat(32_768)}0]`, boundsFor(64 * 1024 * 1024))).toHaveLength(32_769);
  expect(boundsFor(Number.POSITIVE_INFINITY).maxValues).toBe(Number.POSITIVE_INFINITY);
});

test("the platform can serialize any accepted depth", () => {
  const text = "[".repeat(1_000) + "]".repeat(1_000);
  const value = parseJson(text, boundsFor(DEFAULT_MAX_RESPONSE_BYTES));
  expect(JSON.stringify(value)).toBe(text);
  expect(() => structuredClone(value)).not.toThrow();
});

function withoutProto(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, member: unknown) => (key === "__proto__" ? undefined : member));
}
