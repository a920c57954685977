import { type ErrorDetails, isBrandedError } from "../errors/automation-error.ts";
import { hintsFor } from "./hints.ts";

/** A kind of value: its name in messages, and which values are of it. */
export interface Kind {
  readonly words: string;
  readonly accepts: (value: unknown) => boolean;
  /** It must not be left out. */
  readonly required?: boolean;
  /** What is kept of an accepted value, where that is not the value itself. */
  readonly read?: ((accepted: never) => unknown) | undefined;
}

/** What may stand in each field of an object. */
export type Shape<Given> = { readonly [Key in keyof Given]-?: Kind };

/** An object without what is `undefined` in it. */
export type Present<Given> = { [Key in keyof Given]: Exclude<Given[Key], undefined> };

export function kind(words: string, accepts: Kind["accepts"], read?: Kind["read"]): Kind {
  return { words, accepts, read };
}

/** What `optional` accepts; it must not be left out. */
export function required(optional: Kind): Kind {
  return { ...optional, required: true };
}

/** It accepts every value, so its words are never shown. */
export const ANYTHING: Kind = kind("", () => true);
export const BOOLEAN: Kind = kind("a boolean", (value) => typeof value === "boolean");
export const STRING: Kind = kind("a string", (value) => typeof value === "string");
export const RECORD: Kind = kind("an object", isRecord);
export const FUNCTION: Kind = kind("a function", (value) => typeof value === "function");
export const INTERVAL: Kind = kind(
  "a number of milliseconds above 0",
  (value) => typeof value === "number" && value > 0,
);
/** `false` is no limit. */
export const TIMEOUT: Kind = kind(
  `${INTERVAL.words}, or false`,
  (value) => value === false || INTERVAL.accepts(value),
  (limit: number | false) => limit || Number.POSITIVE_INFINITY,
);
/** Duck-typed, since another realm's signals are no instances of ours. */
export const SIGNAL: Kind = kind(
  "an AbortSignal, such as controller.signal",
  (value) =>
    hasMethods(value, "addEventListener", "removeEventListener") &&
    typeof (value as { aborted?: unknown }).aborted === "boolean", // what has methods can be asked
);

/** Whether a value, of whatever kind, has these methods. */
export function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  return names.every((name) => typeof (value as Record<string, unknown> | null)?.[name] === "function"); // any value can be asked
}

/** A value that has these methods. */
export function withMethods(what: string, ...names: readonly string[]): Kind {
  return kind(`${what} with the ${names.length > 1 ? "methods" : "method"} ${names.join(", ")}`, (value) =>
    hasMethods(value, ...names),
  );
}

/** A whole number from `least` up, or `Infinity`. */
export function countFrom(least: number): Kind {
  return kind(
    `a whole number from ${least} up`,
    (value) => typeof value === "number" && value >= least && Math.floor(value) === value,
  );
}

export function oneOf(...values: readonly unknown[]): Kind {
  return kind(`one of ${values.join(", ")}`, (value) => values.includes(value));
}

/** What a caller gave is refused. It never leaves the package: `refusing` makes the caller's error of it. */
class Flaw extends Error {}

/** Refuses what a caller gave; `cause` is what was thrown when it was read. Only within `refusing`. */
export function refuse(message: string, cause?: unknown): never {
  throw new Flaw(message, { cause });
}

/** Refuses more arguments than a method takes: they would go unnoticed. */
export function refuseSurplus(
  surplus: readonly unknown[],
  flaw: string = "too many arguments: the last one is options",
): void {
  if (surplus.length > 0) refuse(flaw);
}

/**
 * The boundary of all checks: runs `read`, which reads what a caller gave. What it refuses becomes an error of a class
 * (`ConfigError` for options of a client, `ArgumentError` for those of a call), and so does whatever a getter of the
 * caller's throws. `say` may add to the message.
 */
export function refusing<Result>(
  Refusal: new (message: string, details: ErrorDetails) => Error,
  read: () => Result,
  say: (flaw: string) => string = (flaw) => flaw,
): Result {
  try {
    return read();
  } catch (error) {
    if (isBrandedError(error)) throw error;
    const { message, cause } = error instanceof Flaw ? error : { message: "an argument cannot be read", cause: error };
    throw new Refusal(say(message), { outcome: "not_sent", cause });
  }
}

/** Runs what may throw, such as a caller's callback: what it throws or rejects with goes nowhere, and nothing waits for it. */
export function ignoreErrors<Result>(callback: () => Result): Result | undefined {
  try {
    const result = callback();
    if (isPromise(result)) Promise.resolve(result).catch(() => {});
    return result;
  } catch {
    // A listener must not break the call it listens to.
    return undefined;
  }
}

/** Objects in one that inherits nothing: what a program has put on Object.prototype is no option of any caller. */
export function bare<Fields extends object>(...parts: readonly Partial<Fields>[]): Fields {
  return Object.assign(Object.create(null) as object, ...parts) as Fields; // the parts together have all fields
}

/** Checks a value. `what` names it in messages. */
export function ofKind<Value>(value: Value, what: string, { words, accepts }: Kind): Value {
  return accepts(value) ? value : refuse(`${what} must be ${words}, not ${shown(value)}`);
}

/**
 * Checks an object of which each field is known, and copies it: its own properties, each read once, without those that are
 * `undefined`. The copy inherits nothing. Unknown keys, which are mostly misspelt, are refused first.
 */
export function given<Given extends object>(
  value: Given | undefined,
  what: string,
  shape: Shape<Given>,
): Present<Given> {
  const own = ownProperties(value, what);
  const unknown = Object.keys(own).filter((key) => !Object.hasOwn(shape, key));
  if (unknown.length > 0) refuse(`${what} must not have ${unknownKeys(unknown, what, Object.keys(shape))}`);
  const copy = bare<Record<string, unknown>>();
  for (const [key, expected] of Object.entries<Kind>(shape)) {
    const field = own[key];
    if (field === undefined && expected.required !== true) continue;
    const accepted = ofKind(field, `${what}.${key}`, expected);
    copy[key] = expected.read === undefined ? accepted : expected.read(accepted as never); // of the kind that it reads
  }
  return copy as Present<Given>; // as far as its kinds say
}

function ownProperties(value: unknown, what: string): Record<string, unknown> {
  const own = bare<Record<string, unknown>>();
  if (value === undefined) return own;
  if (!isRecord(value)) refuse(`${what} must be an object, not ${shown(value)}`);
  try {
    Object.assign(own, value);
  } catch (cause) {
    // It may have a getter that throws.
    refuse(`${what} cannot be read`, cause);
  }
  // A signal, say, that is passed in place of `{ signal }` has no properties of its own, and would pass for no options.
  if (Object.keys(own).length === 0 && !isPlainObject(value))
    refuse(`${what} must be a plain object${SIGNAL.accepts(value) ? ", such as { signal }" : ""}`);
  return own;
}

export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Whether a value is an object that has its values by name. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !Array.isArray(value);
}

/** Whether a value is an object of no class, of this realm or another. */
export function isPlainObject(value: unknown): boolean {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Whether there is something to wait for: a promise of any class. */
export function isPromise<Value>(value: Value | Promise<Value>): value is Promise<Value> {
  return hasMethods(value, "then");
}

const LONGEST_NAME = 40;
const MOST_NAMES = 10;
/** Letters and digits that stand together as in no name, and in no words of a message; a longer look ahead takes long. */
export const RANDOM: RegExp = /(?=[a-z]{0,64}\d)(?=\d{0,64}[a-z])[a-z\d]{12}/i;

/** A key in quotes, or `undefined` for one that may be a secret, such as a value in the wrong place. */
export function nameOf(key: string): string | undefined {
  return key.length > LONGEST_NAME || RANDOM.test(key) ? undefined : JSON.stringify(key);
}

function unknownKeys(unknown: readonly string[], what: string, accepted: readonly string[]): string {
  const names = unknown.flatMap((key) => nameOf(key) ?? []).slice(0, MOST_NAMES);
  const hints = hintsFor(unknown.slice(0, MOST_NAMES), what, accepted);
  const which = [`the unknown key${unknown.length > 1 ? "s" : ""}`, names.join(", ")].join(" ").trim();
  return [which, `accepted: ${accepted.join(", ")}`, ...hints].join("; ");
}

/** No token is shorter. So short a string is shown, and may stand in any text. */
export const SHORTEST_SECRET = 8;

/** A value in words, which show it only if it cannot be a secret: numbers, booleans, and words shorter than any secret. */
export function shown(value: unknown): string {
  if (value === "") return "an empty string";
  if (typeof value === "string") return value.length < SHORTEST_SECRET ? JSON.stringify(value) : "a string";
  if (value === null || ["undefined", "number", "boolean"].includes(typeof value)) return String(value);
  if (Array.isArray(value)) return "an array";
  if (isPromise(value)) return "a promise: await it";
  return `${typeof value === "object" ? "an" : "a"} ${typeof value}`;
}
