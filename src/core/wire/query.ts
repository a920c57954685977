import { mapped, parseValue, typed, type Validator } from "../checks/validators.ts";
import { isPlainObject } from "../checks/values.ts";
import { encodeText } from "./url.ts";

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
