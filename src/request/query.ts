import { argument, type Kind, kind } from "../check.ts";
import { encodeText } from "./path.ts";

/** One value of a query parameter. */
export type QueryValue = string | number | boolean;

/** Query parameters: `undefined` leaves one out, an array repeats it. `null` is refused. */
export type Query = Readonly<Record<string, QueryValue | readonly QueryValue[] | undefined>>;

/** Not a `Map` or `URLSearchParams`, which have no parameters of their own. */
export const QUERY: Kind = kind("a plain object of parameters", (value) => {
  const prototype: unknown = typeof value === "object" && value !== null ? Object.getPrototypeOf(value) : undefined;
  return prototype === null || prototype === Object.prototype;
});

const PARAMETER: Kind = kind(
  "a string, a finite number, a boolean, or an array of these",
  (value) => ["string", "boolean"].includes(typeof value) || Number.isFinite(value),
);

/**
 * The query string of parameters, with its `?`, or `""` where there are none. Each name and value is percent-encoded, so
 * that decoders of forms and of RFC 3986 read the same characters.
 */
export function encodeQuery(query: Query | undefined): string {
  if (query === undefined) return "";
  argument.value(query, "query", QUERY);
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(query)) {
    const values: readonly unknown[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
    for (const single of values) pairs.push(`${encodeText(name, "a query name")}=${encodeValue(name, single)}`);
  }
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

function encodeValue(name: string, value: unknown): string {
  const what = `query.${name}`;
  return encodeText(String(argument.value(value, what, PARAMETER)), what);
}
