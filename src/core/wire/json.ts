import { InvalidInput, invalid } from "../checks/invalid-input.ts";
import {
  describeValue,
  hasMethods,
  isAsyncIterable,
  isDate,
  isIterable,
  isObject,
  isPlainObject,
  isPromise,
  nameOf,
  tagOf,
} from "../checks/values.ts";

/** Parses JSON of any size and depth; `undefined` if the text is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Parsed JSON and all values in it. Not by recursion: JSON may be nested deeper than the stack. */
export function* valuesOf(root: unknown): Generator<unknown> {
  const pending = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    yield value;
    if (isObject(value)) for (const member of Object.values(value)) pending.push(member);
  }
}

type Place = readonly [holder: unknown, key: string];

/**
 * Writes a value as JSON. It must be a JSON value at every level: nothing in it may be sent as `{}` or `null`, or be left
 * out, except members that are `undefined`. `toJSON` is obeyed. `what` names the value in messages.
 */
export function writeJson(value: unknown, what: string): string {
  const places = new Map<unknown, Place>();
  /** The way to a member from the top: `input.rows[3].title`. */
  function pathTo(holder: unknown, key: string): string {
    let path = "";
    let at: Place = [holder, key];
    for (let above = places.get(holder); above !== undefined; above = places.get(above[0])) {
      path = memberOf(at) + path;
      at = above;
    }
    return what + path;
  }
  function check(this: Readonly<Record<string, unknown>>, key: string, written: unknown): unknown {
    const given = this[key];
    const isLost = isLostInWriting(given);
    const isLeftOut = given === undefined && places.has(this) && !Array.isArray(this);
    if (isLost || !(isLeftOut || isJson(written)))
      invalid(`${pathTo(this, key)} must be a JSON value, not ${describeValue(isLost ? given : written)}`);
    if (isObject(written)) places.set(written, [this, key]);
    return written;
  }
  try {
    return JSON.stringify(value, check);
  } catch (thrown) {
    if (thrown instanceof InvalidInput) throw thrown;
    return invalid(`${what} cannot be written as JSON`, thrown); // it refers to itself, or is deeper than the stack
  }
}

function memberOf([holder, key]: Place): string {
  if (Array.isArray(holder)) return `[${key}]`;
  return /^[A-Za-z_$][\w$]*$/.test(key) && nameOf(key) !== undefined ? `.${key}` : `[${nameOf(key) ?? "…"}]`;
}

/** These have a text of their own: a list that is still to be requested, an invalid date (null), bytes (numbers). */
function isLostInWriting(value: unknown): boolean {
  return (
    isPromise(value) ||
    isAsyncIterable(value) ||
    ArrayBuffer.isView(value) ||
    (isDate(value) && Number.isNaN(value.getTime()))
  );
}

const BOXED: readonly unknown[] = ["String", "Number", "Boolean"];

/** Returns whether a value is written as it is. Of an object of a class, that holds if it has fields and yields no items. */
function isJson(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (!isObject(value)) return value === null || typeof value === "string" || typeof value === "boolean";
  if (Array.isArray(value) || isPlainObject(value)) return true;
  if (BOXED.includes(tagOf(value))) return isJson(value.valueOf());
  return Object.keys(value).length > 0 && !hasMethods(value, "pipe") && !isIterable(value);
}
