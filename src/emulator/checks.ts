import { ignoreErrors } from "../core/checks/ignore-errors.ts";
import { invalid } from "../core/checks/invalid-input.ts";
import { expectType, parseOptions } from "../core/checks/parse-options.ts";
import { type ObjectSchema, type Present, type Validator, validator } from "../core/checks/validators.ts";
import { isPlainObject, isPromise } from "../core/checks/values.ts";
import { asErrorClass } from "../core/errors/as-error-class.ts";
import { writeJson } from "../core/wire/json-value.ts";

interface Checks {
  options<Given extends object>(value: Given | undefined, what: string, shape: ObjectSchema<Given>): Present<Given>;
  value<Value>(value: Value, what: string, expected: Validator): Value;
  json(value: unknown, what: string): string;
  fail(message: string): never;
}

class Misuse extends TypeError {}

/** Checks what a test passes to the emulator; throws a `TypeError` that says where and what is accepted. */
export const check: Checks = {
  options: (value, what, shape) => asErrorClass(Misuse, () => parseOptions(value, what, shape)),
  value: (value, what, expected) => asErrorClass(Misuse, () => expectType(value, what, expected)),
  json: (value, what) => asErrorClass(Misuse, () => writeJson(value, what)),
  fail: (message) => asErrorClass(Misuse, () => invalid(message)),
};

/** V8 has it. Where a platform has none, stacks stay as they are. */
const platform = Error as { captureStackTrace?: (target: object, entry: unknown) => void };

/** Runs the work of `entry`, a function of the emulator: the stack of a failed check begins in the code that called it. */
export function atCaller<Result>(entry: CallableFunction, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof Misuse) platform.captureStackTrace?.(error, entry);
    throw error;
  }
}

export const TEXT: Validator = validator("a non-empty string", (value) => typeof value === "string" && value !== "");
export const TEXTS: Validator = arrayOf(TEXT, "an array of non-empty strings");

export function integer(least: number, most: number = Number.MAX_SAFE_INTEGER): Validator {
  const words = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  const accepts = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= least;
  return validator(`an integer ${words}`, (value) => accepts(value) && Number(value) <= most);
}

export function either(other: false | null, accepted: Validator): Validator {
  return validator(`${accepted.words} or ${other}`, (value) => value === other || accepted.accepts(value));
}

export function arrayOf(item: Validator, words: string): Validator {
  return validator(words, (value) => Array.isArray(value) && value.every(item.accepts));
}

/** Hands on what a function of a test returned; throws a `TypeError` for a promise, since each request is answered in one step. */
export function atOnce<Value>(returned: Value, what: string): Value {
  if (!isPromise(returned)) return returned;
  void ignoreErrors(() => returned);
  return check.fail(
    `${what} must not be a promise: a request is answered in one step, so the function cannot be async`,
  );
}

export const HEADERS: Validator = validator("a plain object of header fields", isPlainObject);

export function isHeader(name: unknown, value: unknown): boolean {
  if (typeof name !== "string" || typeof value !== "string") return false;
  return ignoreErrors(() => new Headers([[name, value]])) !== undefined;
}

/** Throws a `TypeError` that names the header which has a name or a value (`null`: none) that HTTP forbids. */
export function checkHeaders(headers: Readonly<Record<string, unknown>>, what: string): void {
  for (const [name, value] of Object.entries(headers)) {
    const values = value === null ? [""] : [value].flat();
    if (!values.every((one) => isHeader(name, typeof one === "number" ? String(one) : one)))
      check.fail(`${what}: ${JSON.stringify(name)} has a name or a value that is not allowed in an HTTP header`);
  }
}
