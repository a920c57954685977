import { ignoreErrors } from "../core/checks/ignore-errors.ts";
import { invalid } from "../core/checks/invalid-input.ts";
import {
  arrayOf,
  numbers,
  type Parsed,
  parseOptions,
  parseValue,
  type Shape,
  strings,
  typed,
  type Validator,
} from "../core/checks/validators.ts";
import { isPlainObject, isPromise } from "../core/checks/values.ts";
import { asErrorClass } from "../core/errors/as-error-class.ts";

interface Checks {
  options<Fields extends Shape>(value: unknown, what: string, shape: Fields): Parsed<Fields>;
  value<Out>(value: unknown, what: string, expected: Validator<Out>): Out;
  fail(message: string): never;
}

class Misuse extends TypeError {}

/** Checks what a test passes to the emulator; throws a `TypeError` that says where and what is accepted. */
export const check: Checks = {
  options: (value, what, shape) => asErrorClass(Misuse, () => parseOptions(value, what, shape)),
  value: (value, what, expected) => asErrorClass(Misuse, () => parseValue(value, what, expected)),
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

export const TEXT: Validator<string> = strings("a non-empty string", (value) => value !== "");
export const TEXTS: Validator<readonly string[]> = arrayOf(TEXT, "an array of non-empty strings");

/** A safe integer from `least` to `most`. */
export function integer(least: number, most: number = Number.MAX_SAFE_INTEGER): Validator<number> {
  const words = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  return numbers(`an integer ${words}`, (value) => Number.isSafeInteger(value) && value >= least && value <= most);
}

/** Hands on what a function of a test returned; throws a `TypeError` for a promise, since each request is answered in one step. */
export function atOnce<Value>(returned: Value, what: string): Value {
  if (!isPromise(returned)) return returned;
  void ignoreErrors(() => returned);
  return check.fail(
    `${what} must not be a promise: a request is answered in one step, so the function cannot be async`,
  );
}

/** Header fields by their names, which `checkHeaders` looks at. */
export function headerFields<Fields>(): Validator<Fields> {
  return typed("a plain object of header fields", (value): value is Fields => isPlainObject(value));
}

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
