import { invalid } from "../checks/invalid-input.ts";
import { mapped, parseValue, typed, type Validator } from "../checks/validators.ts";
import { isPlainObject } from "../checks/values.ts";

const FORBIDDEN = /[\\?#{}<>\p{Cc}\p{Cf}\p{Z}]/u;

/**
 * Names the first character in a text that no encoded value has, and that an address or the static parts of a path must not
 * have; `undefined` if there is none.
 */
export function forbiddenIn(text: string): string | undefined {
  const [found] = FORBIDDEN.exec(text) ?? [];
  if (found === undefined) return undefined;
  if (/[{<]/.test(found)) return `must not contain a placeholder (${found})`;
  return `must not contain ${/[!-~]/.test(found) ? found : "white space, control or invisible characters"}`;
}

/** Percent-encodes UTF-8 as RFC 3986 has it; a lone surrogate, which has no UTF-8, is refused. */
export function encodeText(value: string, what: string): string {
  if (/\p{Surrogate}/u.test(value)) invalid(`${what} has a lone surrogate, which cannot be encoded`);
  return encodeURIComponent(value);
}

/** One value of a query parameter. */
export type QueryValue = string | number | boolean;

/** Query parameters: `undefined` leaves one out, an array repeats it. `null` is refused. */
export type Query = Readonly<Record<string, QueryValue | readonly QueryValue[] | undefined>>;

/** Copied, so that later changes have no effect. Not a `Map` or `URLSearchParams`, which have no parameters of their own. */
export const QUERY: Validator<Readonly<Record<string, unknown>>> = mapped(
  typed("a plain object of parameters", isPlainObject),
  (query) =>
    Object.fromEntries(
      Object.entries(query).map(([name, value]) => [name, Array.isArray(value) ? [...(value as unknown[])] : value]),
    ),
);

const PARAMETER: Validator<QueryValue> = typed(
  "a string, a finite number, a boolean, or an array of these",
  (value): value is QueryValue => ["string", "boolean"].includes(typeof value) || Number.isFinite(value),
);

/**
 * The query string of parameters, without its `?`. Each name and value is percent-encoded, so
 * that decoders of forms and of RFC 3986 read the same characters.
 */
export function encodeQuery(query: Readonly<Record<string, unknown>>): string {
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(query)) {
    const values: readonly unknown[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
    const what = `query.${name}`;
    for (const single of values) {
      const encoded = encodeText(String(parseValue(single, what, PARAMETER)), what);
      pairs.push(`${encodeText(name, "a query name")}=${encoded}`);
    }
  }
  return pairs.join("&");
}
