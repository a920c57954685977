import { closestName } from "./closest-name.ts";
import { describeType } from "./describe-type.ts";
import { type ErrorDetails, isBrandedError } from "./errors/automation-error.ts";
import { ArgumentError } from "./errors/client-errors.ts";

/** A kind of value: what it is in words, and what tells it. */
export interface Kind {
  readonly words: string;
  readonly accepts: (value: unknown) => boolean;
  /** It must not be left out. */
  readonly required?: boolean;
}

/** What may stand in each field of an object. */
export type Shape<Given> = { readonly [Key in keyof Given]-?: Kind };

export function kind(words: string, accepts: Kind["accepts"]): Kind {
  return { words, accepts };
}

export const ANYTHING: Kind = kind("anything", () => true);
export const BOOLEAN: Kind = kind("a boolean", (value) => typeof value === "boolean");
export const STRING: Kind = kind("a string", (value) => typeof value === "string");
export const FUNCTION: Kind = kind("a function", (value) => typeof value === "function");
export const INTERVAL: Kind = kind("a number of milliseconds above 0", isAboveZero);
/** `false` is no limit. */
export const TIMEOUT: Kind = kind(`${INTERVAL.words}, or false`, (value) => value === false || isAboveZero(value));

function isAboveZero(value: unknown): boolean {
  return typeof value === "number" && value > 0;
}

/** Whatever has these methods. */
export function withMethods(what: string, ...methods: readonly string[]): Kind {
  return kind(
    `${what} with the ${methods.length > 1 ? "methods" : "method"} ${methods.join(", ")}`,
    (value) => methods.every((name) => typeof (value as Record<string, unknown> | null)?.[name] === "function"), // any value can be asked
  );
}

/** A whole number from `least` up, or `Infinity`. */
export function countFrom(least: number): Kind {
  return kind(
    `a whole number from ${least} up`,
    (value) => (Number.isInteger(value) || value === Number.POSITIVE_INFINITY) && Number(value) >= least,
  );
}

export function oneOf(...values: readonly unknown[]): Kind {
  return kind(`one of ${values.join(", ")}`, (value) => values.includes(value));
}

/** An object without what is `undefined` in it. */
export type Present<Given> = { [Key in keyof Given]: Exclude<Given[Key], undefined> };

/** Throws one class of error for whatever is wrong: `ConfigError` for a client's settings, `ArgumentError` for a call's. */
export type Refuse = new (message: string, details?: ErrorDetails) => Error;

/** Checks what callers give, and says in one line what is wrong and what is accepted, without showing any text. */
export class Check {
  readonly #error: Refuse;

  constructor(error: Refuse) {
    this.#error = error;
  }

  fail(message: string, cause?: unknown): never {
    throw new this.#error(message, { outcome: "not_sent", ...(cause === undefined ? {} : { cause }) });
  }

  /** What comes of guarded at arguments, which may run getters of theirs that throw anything. */
  guarded<Result>(look: () => Result): Result {
    try {
      return look();
    } catch (error) {
      if (isBrandedError(error)) throw error;
      return this.fail("an argument cannot be read", error);
    }
  }

  /** A value of a kind. */
  value<Value>(value: Value, what: string, { words, accepts }: Kind): Value {
    if (accepts(value)) return value;
    return this.fail(`${what} must be ${words}, not ${typeof value === "number" ? value : describeType(value)}`);
  }

  /** The known fields of an object, each read once; those that are `undefined` are left out. Others are not looked at. */
  fields<Given extends object>(given: Given | undefined, what: string, kinds: Shape<Given>): Present<Given> {
    const source: unknown = given === undefined ? {} : given;
    if (typeof source !== "object" || source === null || Array.isArray(source)) {
      this.fail(`${what} must be an object, not ${describeType(source)}`);
    }
    const read = Object.create(null) as Record<string, unknown>; // inherits nothing
    for (const [key, expected] of Object.entries<Kind>(kinds)) {
      const value = this.#read(source as Record<string, unknown>, what, key);
      if (value === undefined && expected.required !== true) continue;
      read[key] = this.value(value, `${what}.${key}`, expected);
    }
    return read as Present<Given>; // as far as its kinds say
  }

  /** As `fields`, of an object that may have no others: they are mostly misspelt ones. */
  options<Given extends object>(given: Given | undefined, what: string, kinds: Shape<Given>): Present<Given> {
    const options = this.fields(given, what, kinds);
    const keys = Object.keys(given ?? {});
    // A signal, say, that is passed in place of `{ signal }` has no keys of its own, and would pass for no options.
    const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(given ?? {}) as object | null);
    if (!isPlain && keys.length === 0 && Object.keys(options).length === 0) this.fail(`${what} must be a plain object`);
    const unknown = keys.find((key) => !Object.hasOwn(kinds, key));
    if (unknown !== undefined) {
      const accepted = Object.keys(kinds);
      const meant = closestName(unknown, accepted);
      const hint = meant === undefined ? "" : `; did you mean "${meant}"?`;
      // A key may be anything, a secret too.
      const shown = /^(?:[A-Za-z]{1,30}|[a-z]{2,12}(?:_[a-z]{2,12}){1,3})$/.test(unknown) ? ` "${unknown}"` : "";
      this.fail(`${what} must not have the unknown key${shown}; accepted: ${accepted.join(", ")}${hint}`);
    }
    return options;
  }

  #read(source: Record<string, unknown>, what: string, key: string): unknown {
    // What a program put on Object.prototype is no option of any caller.
    if (key in Object.prototype && !Object.hasOwn(source, key)) return undefined;
    try {
      return source[key];
    } catch (cause) {
      // It may be a getter.
      return this.fail(`${what}.${key} cannot be read`, cause);
    }
  }
}

/** Checks the arguments of calls. */
export const argument: Check = /* @__PURE__ */ new Check(ArgumentError);
