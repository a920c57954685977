import {
  given,
  ignoreErrors,
  isPlainObject,
  isPromise,
  type Kind,
  kind,
  ofKind,
  type Present,
  refuse,
  refusing,
  type Shape,
} from "../client/checks/checks.ts";

interface Checks {
  options<Given extends object>(value: Given | undefined, what: string, shape: Shape<Given>): Present<Given>;
  value<Value>(value: Value, what: string, expected: Kind): Value;
  fail(message: string): never;
}

/** Checks what a test passes to the emulator; throws a `TypeError` that says where and what is accepted. */
export const check: Checks = {
  options: (value, what, shape) => refusing(TypeError, () => given(value, what, shape)),
  value: (value, what, expected) => refusing(TypeError, () => ofKind(value, what, expected)),
  fail: (message) => refusing(TypeError, () => refuse(message)),
};

export const TEXT: Kind = kind("a non-empty string", (value) => typeof value === "string" && value !== "");
export const TEXTS: Kind = arrayOf(TEXT, "an array of non-empty strings");

/** A safe integer from `least` to `most`. */
export function integer(least: number, most: number = Number.MAX_SAFE_INTEGER): Kind {
  const words = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  const accepts = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= least;
  return kind(`an integer ${words}`, (value) => accepts(value) && Number(value) <= most);
}

/** What `accepted` accepts, or one other value. */
export function either(other: string | number | boolean | null, accepted: Kind): Kind {
  return kind(`${accepted.words} or ${other}`, (value) => value === other || accepted.accepts(value));
}

export function arrayOf(item: Kind, words: string): Kind {
  return kind(words, (value) => Array.isArray(value) && value.every(item.accepts));
}

/** What a function of a test returned; throws a `TypeError` for a promise, since each request is answered in one step. */
export function atOnce<Value>(returned: Value, what: string): Value {
  if (!isPromise(returned)) return returned;
  void ignoreErrors(() => returned);
  return check.fail(
    `${what} must not be a promise: a request is answered in one step, so the function cannot be async`,
  );
}

/** Header fields by their names. */
export const HEADERS: Kind = kind("a plain object of header fields", isPlainObject);

/** Throws a `TypeError` that names the header which has a name or a value (`null`: none) that HTTP forbids. */
export function checkHeaders(headers: Readonly<Record<string, unknown>>, what: string): void {
  for (const [name, value] of Object.entries(headers)) {
    const values = value === null ? [""] : [value].flat();
    const isText = values.every((one) => ["string", "number"].includes(typeof one));
    const sent = isText && ignoreErrors(() => values.map((one) => new Headers({ [name]: String(one) })));
    if (!sent)
      check.fail(`${what}: ${JSON.stringify(name)} has a name or a value that is not allowed in an HTTP header`);
  }
}
