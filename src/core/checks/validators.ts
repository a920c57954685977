import { ignoreErrors } from "./ignore-errors.ts";
import { hasMethods, isAsyncIterable, isIterable, isRecord } from "./values.ts";

/** A check of a value: its words in messages, and the values that it accepts. */
export interface Validator {
  readonly words: string;
  readonly accepts: (value: unknown) => boolean;
  /** It must not be left out. */
  readonly required?: boolean;
  /** A field that is there and `undefined` stays so in what is parsed: it does not count as left out. */
  readonly keepsUndefined?: boolean;
  /** Makes the value that is kept of an accepted one. Without it, that is the value itself. */
  readonly read?: ((accepted: never) => unknown) | undefined;
  /** Ends the message for a value that is not accepted, where there is more to say. */
  readonly hint?: ((refused: unknown) => string | undefined) | undefined;
}

/** The validators of the fields of an object. */
export type ObjectSchema<Given> = { readonly [Key in keyof Given]-?: Validator };

/** An object without what is `undefined` in it. */
export type Present<Given> = { [Key in keyof Given]: Exclude<Given[Key], undefined> };

// So marked, a bundler leaves out the validators of what a program does not use.
/* @__NO_SIDE_EFFECTS__ */
export function validator(words: string, accepts: Validator["accepts"], read?: Validator["read"]): Validator {
  return { words, accepts, read };
}

/** The same values as `optional`, which must not be left out. */
/* @__NO_SIDE_EFFECTS__ */
export function required(optional: Validator): Validator {
  return { ...optional, required: true };
}

/** It accepts every value, so its words are never shown. */
export const ANYTHING: Validator = validator("", () => true);

export const BOOLEAN: Validator = validator("a boolean", (value) => typeof value === "boolean");

export const STRING: Validator = validator("a string", (value) => typeof value === "string");

export const RECORD: Validator = validator("an object", isRecord);

export const FUNCTION: Validator = validator("a function", (value) => typeof value === "function");

/** The same function, which cannot break its caller. */
export function unbreakable<Arguments extends readonly unknown[]>(
  tell: (...given: Arguments) => unknown,
): (...given: Arguments) => void {
  return (...given) => void ignoreErrors(() => tell(...given));
}

/** A function that is called with news: what it throws or rejects with is ignored, and nothing waits for it. */
export const LISTENER: Validator = validator(FUNCTION.words, FUNCTION.accepts, unbreakable);

export const INTERVAL: Validator = validator(
  "a number of milliseconds above 0",
  (value) => typeof value === "number" && value > 0,
);

/** `false` is no limit. */
export const TIMEOUT: Validator = validator(
  `${INTERVAL.words}, or false`,
  (value) => value === false || INTERVAL.accepts(value),
  (limit: number | false) => limit || Number.POSITIVE_INFINITY,
);

/** Duck-typed, since another realm's signals are no instances of ours. */
export const SIGNAL: Validator = validator(
  "an AbortSignal such as controller.signal",
  (value) =>
    hasMethods(value, "addEventListener", "removeEventListener") &&
    typeof (value as { aborted?: unknown }).aborted === "boolean", // what has methods can be asked
);

/** A hint for a function in the place of what it returns. */
function uncalled(refused: unknown): string | undefined {
  return typeof refused === "function" ? ": call it" : undefined;
}

/** A value that `for await` can iterate. */
export const ITERABLE: Validator = {
  words: "an iterable or an async iterable",
  accepts: (value) => isIterable(value) || isAsyncIterable(value),
  hint: uncalled,
};

/** A value that has these methods. */
/* @__NO_SIDE_EFFECTS__ */
export function withMethods(what: string, ...names: readonly string[]): Validator {
  const words = `${what} with the ${names.length > 1 ? "methods" : "method"} ${names.join(", ")}`;
  return {
    words,
    accepts: (value) => hasMethods(value, ...names),
    hint: uncalled,
  };
}

/** A whole number from `least` up, or `Infinity`. */
/* @__NO_SIDE_EFFECTS__ */
export function countFrom(least: number): Validator {
  return validator(
    `a whole number from ${least} up`,
    (value) => typeof value === "number" && value >= least && Math.floor(value) === value,
  );
}

/* @__NO_SIDE_EFFECTS__ */
export function oneOf(...values: readonly unknown[]): Validator {
  return validator(`one of ${values.join(", ")}`, (value) => values.includes(value));
}
