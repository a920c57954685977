import { invalid } from "./invalid-input.ts";
import { describeValue, hasMethods, isObject, isPlainObject, isPromise, nameOf } from "./values.ts";

/**
 * Writes a value as JSON. It must be a JSON value at every level: nothing in it may be sent as `{}` or `null`, or be left
 * out, except members that are `undefined`. `toJSON` is obeyed. `what` names the value in messages.
 */
export function writeJson(value: unknown, what: string): string {
  let text: string | undefined;
  let cause: unknown;
  try {
    text = JSON.stringify(value);
  } catch (thrown) {
    cause = thrown;
  }
  // Deeper than the stack, nothing but the depth is to be said.
  if (!(cause instanceof RangeError)) expectJson(value, what);
  return text ?? invalid(`${what} cannot be written as JSON`, cause);
}

/** A value within the one that is checked, and its place there. */
interface Place {
  readonly value: unknown;
  /** `""` at the top, which is what `toJSON` is called with there. */
  readonly key: string;
  readonly inList?: boolean;
  /** The place of the list or the object that it is in. */
  readonly around?: Place;
}

/** Refuses the first value that is no JSON value. Not by recursion: JSON may be nested deeper than the stack. */
function expectJson(root: unknown, what: string): void {
  /** Values that were looked at: what is shared is looked at once, and what refers to itself has an end. */
  const seen = new Set<object>();
  const pending: Place[] = [{ value: root, key: "" }];
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    if (isObject(place.value)) {
      if (seen.has(place.value)) continue;
      seen.add(place.value);
    }
    // These have a text of their own: a list that is still to be requested, an invalid date (null), bytes (numbers).
    const isRefused = isPromise(place.value) || isAsyncIterable(place.value) || isLostInWriting(place.value);
    const value = isRefused ? place.value : writtenBy(place);
    if (isRefused || !isJson(value))
      invalid(`${what}${pathTo(place)} must be a JSON value, not ${describeValue(value)}`);
    if (!isObject(value)) continue;
    seen.add(value);
    const inList = Array.isArray(value);
    // `Array.from` has the holes of a list too, which would be sent as null.
    const members = inList
      ? Array.from<unknown>(value).map((one, at) => [`${at}`, one] as const)
      : Object.entries(value);
    for (const [key, member] of members.reverse()) {
      if (inList || member !== undefined) pending.push({ value: member, key, inList, around: place });
    }
  }
}

/** The way to a value from the top, in messages: `.rows[3].title`. */
function pathTo(place: Place): string {
  let path = "";
  for (let at = place; at.around !== undefined; at = at.around) path = memberOf(at) + path;
  return path;
}

function memberOf({ key, inList }: Place): string {
  if (inList) return `[${key}]`;
  return /^[A-Za-z_$][\w$]*$/.test(key) && nameOf(key) !== undefined ? `.${key}` : `[${nameOf(key) ?? "…"}]`;
}

/** The value that is written in the place of one that has `toJSON`. */
function writtenBy({ value, key }: Place): unknown {
  return hasMethods(value, "toJSON") ? (value as { toJSON(key: string): unknown }).toJSON(key) : value; // checked above
}

function isLostInWriting(value: unknown): boolean {
  return ArrayBuffer.isView(value) || (value instanceof Date && Number.isNaN(value.getTime()));
}

const BOXED: readonly unknown[] = [String, Number, Boolean];

/** Returns whether a value is written as it is. Of an object of a class, that holds if it has fields and yields no items. */
function isJson(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (!isObject(value)) return value === null || typeof value === "string" || typeof value === "boolean";
  if (Array.isArray(value) || isPlainObject(value)) return true;
  if (BOXED.includes(value.constructor)) return isJson(value.valueOf());
  return Object.keys(value).length > 0 && !hasMethods(value, "pipe") && !isIterable(value);
}

function isIterable(value: object): boolean {
  return Symbol.iterator in value;
}

function isAsyncIterable(value: unknown): boolean {
  return isObject(value) && Symbol.asyncIterator in value;
}
