/** JSON as it is parsed, and as it is written: nothing is sent as `{}` or `null` that was something else. */
import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ArgumentError, Client } from "../../../../src/client/index.ts";
import { asErrorClass } from "../../../../src/core/errors/as-error-class.ts";
import { parseJson, writeJson } from "../../../../src/core/wire/json.ts";

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

test("100 000 levels are read", () => {
  const depth = 100_000;
  let value = parseJson("[".repeat(depth) + "]".repeat(depth));
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

const write = (value: unknown): string => asErrorClass(ArgumentError, () => writeJson(value, "json"));

class Plain {
  a = 1;
}
class Dressed {
  readonly #secret = 1;
  toJSON(): unknown {
    return { dressed: this.#secret };
  }
}
class Empty {
  readonly #a = 1;
  get a(): number {
    return this.#a;
  }
}
const list = new Client({ baseUrl: "https://h.example/v1", token: "a_b_c" }).projects.list();

/** Values that are no JSON, and how messages name them. */
const NONE: readonly (readonly [words: string, value: unknown])[] = [
  ["an instance of FormData", new FormData()],
  ["an instance of URLSearchParams", new URLSearchParams("a=1")],
  ["an instance of Headers", new Headers()],
  ["an instance of Blob", new Blob(["x"])],
  ["an instance of File", new File(["x"], "x")],
  ["an instance of Map", new Map([["a", 1]])],
  ["an instance of Set", new Set([1])],
  ["an instance of WeakMap", new WeakMap()],
  ["an instance of RegExp", /x/],
  ["an instance of Error", new Error("x")],
  ["an instance of ArrayBuffer", new ArrayBuffer(1)],
  ["an instance of Uint8Array", new Uint8Array(2)],
  ["an instance of Uint8Array", Buffer.from("a")],
  ["an instance of Date", new Date(Number.NaN)],
  ["an instance of ReadableStream", new ReadableStream()],
  ["an instance of Readable", Readable.from(["x"])],
  ["an instance of Response", new Response("x")],
  ["an instance of Paginator", list],
  ["an instance of Empty", new Empty()],
  ["an instance of Generator", (function* () {})()],
  ["a promise: await it", Promise.resolve(1)],
  ["a function", () => 1],
  ["a symbol", Symbol("x")],
  ["a bigint", 1n],
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
];

describe.each(NONE)("%s", (words, value) => {
  test.each<[string, unknown]>([
    ["json", value],
    ["json.a", { a: value }],
    ["json[1]", [0, value]],
    ["json.a[0].b", { x: 1, a: [{ b: value }] }],
    ['json["a b"]', { "a b": value }],
    ["json[…]", { "a-secret-0123456789abcdef-0123456789abcdef-x": value }],
    ["json", { toJSON: () => value }],
  ])("is refused at %s", (at, root) => {
    expect(() => write(root)).toThrow(
      expect.objectContaining({ name: "ArgumentError", message: `${at} must be a JSON value, not ${words}` }),
    );
  });
});

test.each<[string, unknown]>([
  ["json[0] must be a JSON value, not undefined", [undefined]],
  ["json[1] must be a JSON value, not undefined", new Array(2).fill(0, 0, 1)],
  ["json must be a JSON value, not undefined", { toJSON: () => undefined }],
  ["json.a must be a JSON value, not a function", { a() {}, b: Symbol("x") }],
])("%s", (message, value) => {
  expect(() => write(value)).toThrow(message);
});

test.each<[unknown, string]>([
  [{ a: undefined, b: 1 }, '{"b":1}'],
  [{}, "{}"],
  [Object.create(null), "{}"],
  [new Plain(), '{"a":1}'],
  [new Dressed(), '{"dressed":1}'],
  [[new Date(0), new URL("https://h.example/")], '["1970-01-01T00:00:00.000Z","https://h.example/"]'],
  [[Object("a"), Object(1), Object(true)], '["a",1,true]'],
  [null, "null"],
  ["", '""'],
])("%o is written", (value, text) => {
  expect(write(value)).toBe(text);
});

test("a bigint with a toJSON, as some programs give it, is written by it", () => {
  const text = Object.assign(Object(5n), { toJSON: () => "5" });
  expect(write({ n: text })).toBe('{"n":"5"}');
});

test("every JSON value is written as the platform does", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(write(value)).toBe(JSON.stringify(value));
    }),
  );
});

test("a value that refers to itself, and one that throws, are refused with their cause", () => {
  const circle: { self?: unknown; list: unknown[] } = { list: [] };
  circle.self = circle;
  circle.list.push(circle);
  expect(() => write(circle)).toThrow(
    expect.objectContaining({ message: "json cannot be written as JSON", cause: expect.any(TypeError) }),
  );
  // What stands before it is said first.
  expect(() => write({ b: new Map(), circle })).toThrow("json.b must be a JSON value, not an instance of Map");
});

test("a value that is shared is looked at once, and written each time", () => {
  let shared: unknown = [1];
  for (let level = 0; level < 15; level += 1) shared = [shared, shared];
  expect(write(shared)).toBe(JSON.stringify(shared));
});

test("values may be nested as deep as the platform writes them", () => {
  let deep: unknown = new Map();
  for (let level = 0; level < 2_000; level += 1) deep = [deep];
  expect(() => write(deep)).toThrow(/^json(?:\[0\]){2000} must be a JSON value/);
  for (let level = 0; level < 1_000_000; level += 1) deep = [deep];
  expect(() => write(deep)).toThrow(ArgumentError);
});
