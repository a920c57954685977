import fc from "fast-check";
import { expect, test } from "vitest";
import {
  BOOLEAN,
  Check,
  countFrom,
  FUNCTION,
  INTERVAL,
  type Kind,
  oneOf,
  type Shape,
  STRING,
  TIMEOUT,
} from "../../src/check.ts";
import { ArgumentError, ConfigError } from "../../src/index.ts";

const check = new Check(ArgumentError);
const isNumber = (value: unknown): value is number => typeof value === "number";

const KINDS: readonly (readonly [Kind, (value: unknown) => boolean])[] = [
  [BOOLEAN, (value) => typeof value === "boolean"],
  [STRING, (value) => typeof value === "string"],
  [FUNCTION, (value) => typeof value === "function"],
  [INTERVAL, (value) => isNumber(value) && value > 0],
  [TIMEOUT, (value) => value === false || (isNumber(value) && value > 0)],
  [countFrom(0), (value) => isNumber(value) && value >= 0 && (value === Infinity || value % 1 === 0)],
  [countFrom(1), (value) => isNumber(value) && value >= 1 && (value === Infinity || value % 1 === 0)],
  [oneOf("a", "b"), (value) => value === "a" || value === "b"],
];

test.each(KINDS)("$words, and nothing else", (kind, fits) => {
  const values = fc.oneof(fc.anything(), fc.double(), fc.integer({ min: -2, max: 2 }), fc.constantFrom("a", Infinity));
  fc.assert(
    fc.property(values, (value) => {
      if (fits(value)) expect(check.value(value, "x", kind)).toBe(value);
      else expect(() => check.value(value, "x", kind)).toThrow(ArgumentError);
    }),
  );
});

test.each([
  [0, "timeoutMs must be a number of milliseconds above 0, or false, not 0"],
  [Number.NaN, "timeoutMs must be a number of milliseconds above 0, or false, not NaN"],
  [null, "timeoutMs must be a number of milliseconds above 0, or false, not null"],
  ["", "timeoutMs must be a number of milliseconds above 0, or false, not an empty string"],
  ["pat_secret", "timeoutMs must be a number of milliseconds above 0, or false, not a string"],
])("what is wrong and what is accepted is said in one line: %o", (value, message) => {
  expect(() => check.value<unknown>(value, "timeoutMs", TIMEOUT)).toThrow(
    new ArgumentError(message, { outcome: "not_sent" }),
  );
});

test("a checker throws the class that it was made for, with the outcome not_sent", () => {
  expect(() => new Check(ConfigError).fail("no")).toThrow(ConfigError);
  expect(() => check.fail("no")).toThrow(expect.objectContaining({ outcome: "not_sent" }));
});

test("fields are read once, undefined ones are omitted, and unknown ones are not read", () => {
  const reads: string[] = [];
  const given = new Proxy<{ a?: string; b?: boolean; c?: string }>(
    { a: "x", c: "y" },
    {
      get: (target, key) => {
        reads.push(String(key));
        return Reflect.get(target, key) as unknown;
      },
    },
  );
  expect(check.fields<{ a?: string; b?: boolean }>(given, "input", { a: STRING, b: BOOLEAN })).toEqual({ a: "x" });
  expect(reads).toEqual(["a", "b"]);
  expect(check.fields<{ a?: string }>(undefined, "input", { a: STRING })).toEqual({});
  expect(check.fields<{ a?: string | undefined }>({ a: undefined }, "input", { a: STRING })).toEqual({});
});

test("what is required must not be left out", () => {
  const kinds: Shape<{ a: string }> = { a: { ...STRING, required: true } };
  for (const given of [undefined, {}, { a: undefined }]) {
    expect(() => check.fields(given as never, "input", kinds)).toThrow("input.a must be a string, not undefined");
  }
});

test.each([null, 5, "x", [], () => {}, Symbol("s")])("%o is no object of fields", (given) => {
  expect(() => check.fields<object>(given as never, "input", {})).toThrow(/^input must be an object, not /);
});

test("the error for a getter that throws names its key, and has what it threw as its cause", () => {
  const thrown = new Error("secret");
  const given = {
    get a(): string {
      throw thrown;
    },
  };
  const expected = expect.objectContaining({ kind: "argument", message: "input.a cannot be read", cause: thrown });
  expect(() => check.fields(given, "input", { a: STRING })).toThrow(expected);
});

test("an unknown key is named if it is not a secret, with the known ones", () => {
  const refuse = (key: string) => () => check.options<object>({ [key]: 1 }, "options", { a: STRING, b: STRING });
  expect(refuse("times")).toThrow('options must not have the unknown key "times"; accepted: a, b');
  expect(refuse("pat_k_s")).toThrow("options must not have the unknown key; accepted: a, b");
  for (const key of ["__proto__x", "constructor", "toString", "hasOwnProperty"])
    expect(refuse(key)).toThrow(ArgumentError);
});

test("an object of a class without own properties is rejected as options", () => {
  const { signal } = new AbortController();
  for (const given of [signal, new Date(), new Map([["a", "x"]])]) {
    expect(() => check.options<object>(given, "options", {})).toThrow("options must be a plain object");
  }
  expect(check.options<object>(Object.create(null) as object, "options", {})).toEqual({});
  class Options {
    a = "x";
  }
  expect(check.options(new Options(), "options", { a: STRING })).toEqual({ a: "x" });
});
