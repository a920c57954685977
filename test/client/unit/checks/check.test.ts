import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ArgumentError, ConfigError } from "../../../../src/client/index.ts";
import { invalid } from "../../../../src/core/checks/invalid-input.ts";
import {
  BOOLEAN,
  countFrom,
  functions,
  INTERVAL,
  INVALID,
  oneOf,
  parseOptions,
  parseValue,
  required,
  type Shape,
  SIGNAL,
  STRING,
  TIMEOUT,
  type Validator,
} from "../../../../src/core/checks/validators.ts";
import { describeValue } from "../../../../src/core/checks/values.ts";
import { asErrorClass } from "../../../../src/core/errors/as-error-class.ts";

const isNumber = (value: unknown): value is number => typeof value === "number";

const KINDS: readonly (readonly [Validator<unknown>, (value: unknown) => boolean])[] = [
  [BOOLEAN, (value) => typeof value === "boolean"],
  [STRING, (value) => typeof value === "string"],
  [functions(), (value) => typeof value === "function"],
  [INTERVAL, (value) => isNumber(value) && value > 0],
  [countFrom(0), (value) => isNumber(value) && value >= 0 && (value === Infinity || value % 1 === 0)],
  [countFrom(1), (value) => isNumber(value) && value >= 1 && (value === Infinity || value % 1 === 0)],
  [oneOf("a", "b"), (value) => value === "a" || value === "b"],
];

/** The message with which something is refused. */
function problemOf(read: () => unknown): string {
  try {
    asErrorClass(ArgumentError, read);
  } catch (error) {
    expect(error).toBeInstanceOf(ArgumentError);
    return (error as Error).message;
  }
  return expect.fail("it was expected to be refused");
}

test.each(KINDS)("$words, and nothing else", (kind, fits) => {
  const values = fc.oneof(fc.anything(), fc.double(), fc.integer({ min: -2, max: 2 }), fc.constantFrom("a", Infinity));
  fc.assert(
    fc.property(values, (value) => {
      if (fits(value)) expect(parseValue(value, "x", kind)).toBe(value);
      else expect(problemOf(() => parseValue(value, "x", kind))).toMatch(/^x must be /);
    }),
  );
});

test("a signal of another realm is one, an object with some of its members, or with others of these names, is none", () => {
  const { signal } = new AbortController();
  const foreign = { aborted: false, addEventListener() {}, removeEventListener() {} };
  expect([signal, foreign].map(SIGNAL.parse)).toEqual([signal, foreign]);
  const none = [
    { ...foreign, addEventListener: true },
    { ...foreign, aborted: undefined },
    { aborted: false },
    new AbortController(),
  ];
  expect(none.map(SIGNAL.parse)).toEqual([INVALID, INVALID, INVALID, INVALID]);
});

test("a time limit of false is none", () => {
  expect([false, 5, Infinity].map(TIMEOUT.parse)).toEqual([Infinity, 5, Infinity]);
  expect([true, 0, -1, "5", null].map(TIMEOUT.parse)).toEqual(Array.from({ length: 5 }, () => INVALID));
});

describe("the boundary", () => {
  test("throws the class that it was made for, with the outcome not_sent, and may add to the message", () => {
    const error = (() => {
      try {
        return asErrorClass(
          ConfigError,
          () => invalid("no"),
          (problem) => `x: ${problem}`,
        );
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({ message: "x: no", outcome: "not_sent" });
    expect(Object.hasOwn(error as object, "cause")).toBe(false);
  });

  test("what a getter throws is the cause", () => {
    const thrown = new Error("theirs");
    const value = {
      get a(): string {
        throw thrown;
      },
    };
    const read = (): unknown => asErrorClass(ArgumentError, () => parseOptions(value, "input", { a: STRING }));
    expect(read).toThrow(expect.objectContaining({ message: "an argument cannot be read", cause: thrown }));
  });

  test("lets errors of this package through as they are", () => {
    const error = new ArgumentError("x");
    const read = (): unknown =>
      asErrorClass(ConfigError, () => {
        throw error;
      });
    expect(read).toThrow(error);
  });
});

describe("a checked object", () => {
  test("is a copy, without what is undefined", () => {
    const value = { a: "x", b: undefined };
    expect(Object.entries(parseOptions(value, "input", { a: STRING, b: BOOLEAN }))).toEqual([["a", "x"]]);
    expect(parseOptions(undefined, "input", { a: STRING })).toEqual({});
  });

  test("each property is read once, in whatever order they are", () => {
    const reads: string[] = [];
    const value = new Proxy(
      { b: true, a: "x" },
      {
        get: (target, key) => {
          reads.push(String(key));
          return Reflect.get(target, key) as unknown;
        },
      },
    );
    expect(JSON.stringify(parseOptions(value, "input", { a: STRING, b: BOOLEAN }))).toBe('{"a":"x","b":true}');
    expect([...reads].sort()).toEqual(["a", "b"]);
  });

  test("has its own properties alone: what is inherited is not looked at", () => {
    const value = Object.assign(Object.create({ a: 5 }) as object, { b: true });
    expect(Object.keys(parseOptions(value, "input", { a: STRING, b: BOOLEAN }))).toEqual(["b"]);
    class Input {
      a = "x";
    }
    expect({ ...parseOptions(new Input(), "input", { a: STRING }) }).toEqual({ a: "x" });
  });

  test("has what is required", () => {
    const shape = { a: required(STRING) };
    for (const value of [undefined, {}, { a: undefined }]) {
      expect(problemOf(() => parseOptions(value, "input", shape))).toBe("input.a must be a string, not undefined");
    }
  });

  test.each([null, 5, "x", [], () => {}, Symbol("s")])("%o is none", (value) => {
    expect(problemOf(() => parseOptions(value, "input", {}))).toMatch(/^input must be an object, not /);
  });

  test("an instance of a class is none if it has other properties than options have", () => {
    class Redis {
      a = "x";
      status = "ready";
    }
    expect(problemOf(() => parseOptions(new Redis(), "options", { a: STRING }))).toBe(
      "options must be a plain object such as { a }, not an instance of Redis",
    );
  });

  test("what stands in its place is told what is required, else the first option", () => {
    const shape = { a: STRING, until: required(BOOLEAN) };
    expect(problemOf(() => parseOptions("done", "options", shape))).toBe(
      'options must be an object such as { until }, not "done"',
    );
    expect(problemOf(() => parseOptions(5, "options", { a: STRING, b: STRING }))).toBe(
      "options must be an object such as { a }, not 5",
    );
  });

  test.each([new Date(), new Headers()])("%s, which has no properties of its own, is none", (value) => {
    expect(problemOf(() => parseOptions(value, "options", { a: STRING }))).toBe(
      `options must be a plain object such as { a }, not an instance of ${value.constructor.name}`,
    );
  });
});

describe("unknown keys", () => {
  const problem = (value: object, shape: Shape = { a: STRING, b: STRING }): string =>
    problemOf(() => parseOptions(value, "options", shape));

  test("are told all at once, with the known ones", () => {
    expect(problem({ x: 1 })).toBe('options must not have the unknown key "x"; accepted: a, b');
    expect(problem({ x: 1, a: 5, y: 2 })).toBe('options must not have the unknown keys "x", "y"; accepted: a, b');
  });

  test("are told with what is missing, the guess before what is accepted", () => {
    const shape: Shape = { title: required(STRING), type: required(STRING), note: STRING };
    expect(problem({ titel: "x" }, shape)).toBe(
      'options must have title and type, and not have the unknown key "titel" (did you mean "title"?); accepted: title, type, note',
    );
  });

  test("that are longer than a name are not shown", () => {
    expect(problem({ ["k".repeat(41)]: 1 })).toBe("options must not have the unknown key; accepted: a, b");
  });

  test.each(["issue_id2", "x1y2", "k".repeat(40), "a b", "sha256", "externalId2024"])(
    "that are names are shown: %s",
    (key) => {
      expect(problem({ [key]: 1 })).toContain(`the unknown key "${key}"`);
    },
  );

  test("of which there are many are not all shown", () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`key_${index}`, 1]));
    expect(problem(many).length).toBeLessThan(200);
  });

  test("are shown on one line", () => {
    expect(problem({ "a\n\u001b[31m": 1 })).toContain('"a\\n\\u001b[31m"');
  });
});

test.each<[unknown, string]>([
  [0, "0"],
  [Number.NaN, "NaN"],
  [false, "false"],
  [null, "null"],
  [undefined, "undefined"],
  ["", "an empty string"],
  ["get", '"get"'],
  ["5\n", '"5\\n"'],
  ["longer than a word", "a string"],
  ["8 chars.", "a string"],
  [[], "an array"],
  [{}, "an object"],
  [() => {}, "a function"],
  [Symbol("secret"), "a symbol"],
  [1n, "a bigint"],
  [Promise.resolve("secret"), "a promise: await it"],
])("%o is shown as %s", (value, words) => {
  expect(describeValue(value)).toBe(words);
});
