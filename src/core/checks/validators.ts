import { hintsFor } from "./hints.ts";
import { ignoreErrors } from "./ignore-errors.ts";
import { invalid } from "./invalid-input.ts";
import {
  describeValue,
  fieldsOf,
  hasMethods,
  isAsyncIterable,
  isIterable,
  isPlainObject,
  isRecord,
  nameOf,
} from "./values.ts";

/** Returned in place of a value that a validator does not accept. */
export const INVALID: unique symbol = Symbol("invalid");

/** A check of a value, and the value that is kept of one that is accepted. */
export interface Validator<Out> {
  /** The values that are accepted, as messages name them. */
  readonly words: string;
  readonly parse: (value: unknown) => Out | typeof INVALID;
  /** Ends the message for a value that is not accepted, where there is more to say. */
  readonly hint?: ((refused: unknown) => string | undefined) | undefined;
}

export interface RequiredValidator<Out> extends Validator<Out> {
  readonly isRequired: true;
}

export type Shape<Given = Readonly<Record<string, unknown>>> = { readonly [Key in keyof Given]-?: Validator<unknown> };

type Out<Field> = Field extends Validator<infer Kept> ? Kept : never;

export type Parsed<Fields> = {
  readonly [Key in keyof Fields as Fields[Key] extends RequiredValidator<unknown> ? Key : never]: Out<Fields[Key]>;
} & {
  readonly [Key in keyof Fields as Fields[Key] extends RequiredValidator<unknown> ? never : Key]?: Out<Fields[Key]>;
};

// So marked, a bundler leaves out the validators of what a program does not use.
/* @__NO_SIDE_EFFECTS__ */
export function validator<Out>(
  words: string,
  parse: Validator<Out>["parse"],
  hint?: Validator<Out>["hint"],
): Validator<Out> {
  return { words, parse, hint };
}

/* @__NO_SIDE_EFFECTS__ */
export function typed<Out>(
  words: string,
  is: (value: unknown) => value is Out,
  hint?: Validator<Out>["hint"],
): Validator<Out> {
  return validator(words, (value) => (is(value) ? value : INVALID), hint);
}

/* @__NO_SIDE_EFFECTS__ */
export function numbers(words: string, test: (value: number) => boolean): Validator<number> {
  return validator(words, (value) => (typeof value === "number" && test(value) ? value : INVALID));
}

/* @__NO_SIDE_EFFECTS__ */
export function strings(words: string, test: (value: string) => boolean): Validator<string> {
  return validator(words, (value) => (typeof value === "string" && test(value) ? value : INVALID));
}

/** The same values; `map` makes what is kept of each. */
/* @__NO_SIDE_EFFECTS__ */
export function mapped<In, Out>(given: Validator<In>, map: (value: In) => Out): Validator<Out> {
  return {
    ...given,
    parse: (value) => {
      const parsed = given.parse(value);
      return parsed === INVALID ? INVALID : map(parsed);
    },
  };
}

/* @__NO_SIDE_EFFECTS__ */
export function either<const Other extends false | null, Out>(
  other: Other,
  { words, parse }: Validator<Out>,
): Validator<Other | Out> {
  return validator(`${words}, or ${other}`, (value) => (value === other ? other : parse(value)));
}

/* @__NO_SIDE_EFFECTS__ */
export function required<Out>(optional: Validator<Out>): RequiredValidator<Out> {
  return { ...optional, isRequired: true };
}

/** It accepts every value, so its words are never shown. */
export const ANYTHING: Validator<unknown> = validator("", (value) => value);

export const BOOLEAN: Validator<boolean> = typed("a boolean", (value) => typeof value === "boolean");

export const STRING: Validator<string> = typed("a string", (value) => typeof value === "string");

export const RECORD: Validator<Readonly<Record<string, unknown>>> = typed("an object", isRecord);

/** Any function: a value does not say what it takes and returns, so the type of the option does. */
/* @__NO_SIDE_EFFECTS__ */
export function functions<Type extends CallableFunction>(): Validator<Type> {
  return typed("a function", (value): value is Type => typeof value === "function");
}

/** The same function, which cannot break its caller. */
export function safely<Arguments extends readonly unknown[]>(
  tell: (...given: Arguments) => unknown,
): (...given: Arguments) => void {
  return (...given) => void ignoreErrors(() => tell(...given));
}

/** A function that is called with news: what it throws or rejects with is ignored, and nothing waits for it. */
/* @__NO_SIDE_EFFECTS__ */
export function listeners<News>(): Validator<(news: News) => void> {
  return mapped(functions<(news: News) => unknown>(), safely);
}

export const INTERVAL: Validator<number> = numbers("a number of milliseconds above 0", (value) => value > 0);

export const DELAY: Validator<number> = numbers("a number of milliseconds from 0 up", (value) => value >= 0);

/** `false` is no limit. */
export const TIMEOUT: Validator<number> = mapped(either(false, INTERVAL), (limit) => limit || Number.POSITIVE_INFINITY);

export const SIGNAL: Validator<AbortSignal> = typed("an AbortSignal such as controller.signal", isSignal);

/** Duck-typed, since another realm's signals are no instances of ours. */
function isSignal(value: unknown): value is AbortSignal {
  return (
    hasMethods(value, "addEventListener", "removeEventListener") && typeof fieldsOf(value)["aborted"] === "boolean"
  );
}

/** A hint for a function in the place of what it returns. */
function uncalled(refused: unknown): string | undefined {
  return typeof refused === "function" ? ": call it" : undefined;
}

/* @__NO_SIDE_EFFECTS__ */
export function iterables<Item>(): Validator<Iterable<Item> | AsyncIterable<Item>> {
  return typed(
    "an iterable or an async iterable",
    (value): value is Iterable<Item> | AsyncIterable<Item> => isIterable(value) || isAsyncIterable(value),
    uncalled,
  );
}

/* @__NO_SIDE_EFFECTS__ */
export function withMethods<Type>(what: string, ...names: readonly (keyof Type & string)[]): Validator<Type> {
  const words = `${what} with the ${names.length > 1 ? "methods" : "method"} ${names.join(", ")}`;
  return typed(words, (value): value is Type => hasMethods(value, ...names), uncalled);
}

/* @__NO_SIDE_EFFECTS__ */
export function countFrom(least: number): Validator<number> {
  return numbers(`a whole number from ${least} up`, (value) => value >= least && Math.floor(value) === value);
}

/* @__NO_SIDE_EFFECTS__ */
export function oneOf<const Value extends string>(...values: readonly Value[]): Validator<Value> {
  return validator(`one of ${values.join(", ")}`, (value) => values.find((one) => one === value) ?? INVALID);
}

/** An array of which the validator accepts each item; a hole is an item that is `undefined`. */
/* @__NO_SIDE_EFFECTS__ */
export function arrayOf<Item>(item: Validator<Item>, words: string): Validator<readonly Item[]> {
  return validator(words, (value) => {
    if (!Array.isArray(value)) return INVALID;
    const items = Array.from<unknown, Item | typeof INVALID>(value, item.parse);
    return items.every((one): one is Item => one !== INVALID) ? items : INVALID;
  });
}

export function parseValue<Out>(value: unknown, what: string, { words, parse, hint }: Validator<Out>): Out {
  const parsed = parse(value);
  return parsed === INVALID
    ? invalid(`${what} must be ${words}, not ${describeValue(value)}${hint?.(value) ?? ""}`)
    : parsed;
}

/**
 * Parses an object of which each field is known: its own properties, without those that are `undefined`. Unknown keys, which
 * are mostly misspelt, are refused first.
 */
export function parseOptions<Fields extends Shape>(value: unknown, what: string, shape: Fields): Parsed<Fields> {
  const own = ownProperties(value, what, shape);
  const unknown = Object.keys(own).filter((key) => !Object.hasOwn(shape, key));
  if (unknown.length > 0) {
    const missing = requiredOf(shape).filter((key) => own[key] === undefined);
    const lack = missing.length > 0 ? `have ${missing.join(" and ")}, and ` : "";
    const given = Object.fromEntries(unknown.slice(0, MOST_NAMES).map((key) => [key, own[key]]));
    invalid(`${what} must ${lack}not have ${unknownKeys(given, what, Object.keys(shape))}`);
  }
  const parsed: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(shape)) {
    if (own[key] !== undefined || "isRequired" in field) parsed[key] = parseValue(own[key], `${what}.${key}`, field);
  }
  return parsed as Parsed<Fields>; // each field is what its validator has returned
}

/** The properties of an object; of one of a class only if all of them are options: a signal has none, a client has others. */
function ownProperties(value: unknown, what: string, shape: Shape): Readonly<Record<string, unknown>> {
  if (value === undefined) return {};
  const own: Readonly<Record<string, unknown>> = isRecord(value) ? { ...value } : {};
  const keys = Object.keys(own);
  if (isPlainObject(value) || (keys.length > 0 && keys.every((key) => Object.hasOwn(shape, key)))) return own;
  const required = requiredOf(shape);
  const example = (required.length > 0 ? required : Object.keys(shape).slice(0, 1)).join(", ");
  const such = example && ` such as { ${example} }`;
  return invalid(`${what} must be ${isRecord(value) ? "a plain" : "an"} object${such}, not ${describeValue(value)}`);
}

function requiredOf(shape: Shape): string[] {
  return Object.entries(shape).flatMap(([key, field]) => ("isRequired" in field ? key : []));
}

const MOST_NAMES = 10;

function unknownKeys(unknown: Readonly<Record<string, unknown>>, what: string, accepted: readonly string[]): string {
  const keys = Object.keys(unknown);
  const hints = hintsFor(unknown, what, accepted);
  const which = [`the unknown key${keys.length > 1 ? "s" : ""}`, keys.flatMap((key) => nameOf(key) ?? []).join(", ")];
  return `${which.join(" ").trim()}${hints.length > 0 ? ` (${hints.join("; ")})` : ""}; accepted: ${accepted.join(", ")}`;
}

/** The first and the longest of waits that grow, in milliseconds, as far as they are given. */
export type GivenRange = readonly [first: number | undefined, longest: number | undefined];

export type Range = readonly [first: number, longest: number];

/** The range that was given. One that is given alone moves the default of the other. */
export function rangeOf([first, longest]: GivenRange, [defaultFirst, defaultLongest]: Range): Range {
  return [
    first ?? Math.min(defaultFirst, longest ?? defaultFirst),
    longest ?? Math.max(defaultLongest, first ?? defaultLongest),
  ];
}

export function refuseReversed([first = 0, longest = first]: GivenRange, names: readonly [string, string]): void {
  if (first <= longest) return;
  invalid(`${names[0]} (${first}) must not be above ${names[1]} (${longest})`);
}
