/**
 * Values of any realm (jest, jsdom, `node:vm`): a value is asked for what it has, since its class is not the one of the same
 * name here. Words for values, and texts of others.
 */

/** The platform's own word for the class of an object, in whatever realm it was made. */
export function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

export function isError(value: unknown): value is Error {
  return value instanceof Error || ["Error", "DOMException"].includes(tagOf(value));
}

export function isDate(value: unknown): value is Date {
  return tagOf(value) === "Date";
}

export function isBytes(value: unknown): value is Uint8Array {
  return tagOf(value) === "Uint8Array";
}

type Fields = Readonly<Record<PropertyKey, unknown>>;

const NO_FIELDS: Fields = {};

/** The fields of a value, which may be anything: what has none gives `undefined` for each. */
export function fieldsOf(value: unknown): Fields {
  return (value as Fields | null | undefined) ?? NO_FIELDS; // any other value can be asked for any field
}

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes(String(fieldsOf(error)["code"]));
}

/** Replaces lone surrogates. */
export function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, "\ufffd");
}

/** The first `max` characters of a text; no surrogate pair is split. */
export function cut(text: string, max: number): string {
  return text.length > max ? text.slice(0, max).replace(/[\ud800-\udbff]$/, "") : text;
}

export function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  const fields = fieldsOf(value);
  return names.every((name) => typeof fields[name] === "function");
}

export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !Array.isArray(value);
}

/** Returns whether a value is an object of no class, of this realm or another. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

export function isPromise<Value>(value: Value | Promise<Value>): value is Promise<Value> {
  return hasMethods(value, "then");
}

const LONGEST_NAME = 40;

/** A key in quotes, or `undefined` for one that is too long for a name. Known tokens are taken out of messages as a whole. */
export function nameOf(key: string): string | undefined {
  return key.length > LONGEST_NAME ? undefined : JSON.stringify(key);
}

/** No token is shorter. So short a string is shown, and may stand in any text. */
export const SHORTEST_SECRET = 8;

/** A value in words. They show it only if it cannot be a secret: numbers, booleans, and strings shorter than any secret. */
export function describeValue(value: unknown): string {
  if (value === "") return "an empty string";
  if (typeof value === "string") return value.length < SHORTEST_SECRET ? JSON.stringify(value) : "a string";
  if (value === null || ["undefined", "number", "boolean"].includes(typeof value)) return String(value);
  if (Array.isArray(value)) return "an array";
  if (isPromise(value)) return "a promise: await it";
  const name = isObject(value) && !isPlainObject(value) ? classNameOf(value) : undefined;
  return name === undefined ? `${typeof value === "object" ? "an" : "a"} ${typeof value}` : `an instance of ${name}`;
}

function classNameOf(value: object): string | undefined {
  const tag = tagOf(value);
  const name: unknown = tag === "Object" ? (value.constructor as { name?: unknown } | undefined)?.name : tag; // it may be anything
  return typeof name === "string" && /^[A-Za-z_$][\w$]{0,39}$/.test(name) ? name : undefined;
}

/** Handles the rejection of a value that should have been no promise. */
export function ignoreRejection(value: unknown): void {
  if (isPromise(value)) Promise.resolve(value).catch(() => {});
}

export function isIterable(value: unknown): value is Iterable<unknown> {
  return isObject(value) && Symbol.iterator in value;
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return isObject(value) && Symbol.asyncIterator in value;
}

export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

export function textOfUrl(value: unknown): unknown {
  return tagOf(value) === "URL" ? String(value) : value;
}
