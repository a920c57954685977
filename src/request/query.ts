import { describeType } from "../describe-type.ts";
import { ArgumentError } from "../errors/failures.ts";
import { encodeText } from "./path.ts";

/** One value of a query parameter. */
export type QueryValue = string | number | boolean;

/** Query parameters: `undefined` leaves one out, an array repeats it. `null` is refused. */
export type Query = Readonly<Record<string, QueryValue | readonly QueryValue[] | undefined>>;

/**
 * The query string of parameters, with its `?`, or `""` where there are none. Each name and value is percent-encoded,
 * so that whatever decodes it (form rules or RFC 3986) gets the same characters.
 */
export function encodeQuery(query: Query | undefined): string {
  if (query === undefined) return "";
  checkQuery(query);
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(query)) {
    const values: readonly unknown[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
    for (const single of values) pairs.push(`${encodeText(name, "a query name")}=${encodeValue(name, single)}`);
  }
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

/** Refuses what is not a plain object: of a `Map` or `URLSearchParams` nothing would be sent. */
export function checkQuery(query: unknown): void {
  const prototype: unknown = typeof query === "object" && query !== null ? Object.getPrototypeOf(query) : undefined;
  if (prototype === null || prototype === Object.prototype) return;
  throw new ArgumentError("query must be a plain object of parameters", { outcome: "not_sent" });
}

function encodeValue(name: string, value: unknown): string {
  const isNumber = typeof value === "number" && Number.isFinite(value);
  if (typeof value !== "string" && typeof value !== "boolean" && !isNumber) {
    throw new ArgumentError(
      `query.${name} must be a string, a finite number, a boolean, or an array of these, not ${describeType(value)}`,
      { outcome: "not_sent" },
    );
  }
  return encodeText(String(value), `query.${name}`);
}
