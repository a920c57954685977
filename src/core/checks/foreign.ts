/**
 * Values of another realm (jest, jsdom, `node:vm`), and texts of others. A value is asked for what it has, since its class is
 * not the one of the same name here.
 */

/** The platform's own word for the class of an object, in whatever realm it was made. */
export function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

/** Returns whether a value is an error of any realm. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || ["Error", "DOMException"].includes(tagOf(value));
}

/** Returns whether a value is a date of any realm. */
export function isDate(value: unknown): value is Date {
  return tagOf(value) === "Date";
}

/** Returns whether a value is bytes of any realm. */
export function isBytes(value: unknown): value is Uint8Array {
  return tagOf(value) === "Uint8Array";
}

/** Returns whether a platform's error has one of these codes. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes(String((Object(error) as { readonly code?: unknown }).code)); // anything may be thrown
}

/** A text in which no character is half. The other half of one is lost in a cut, or was never sent. */
export function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, "\ufffd");
}

/** The first characters of a text, at most `max`; none of them is half. */
export function cut(text: string, max: number): string {
  return text.length > max ? text.slice(0, max).replace(/[\ud800-\udbff]$/, "") : text;
}
