import { invalid } from "../checks/invalid-input.ts";
import { isIterable, nameOf } from "../checks/values.ts";

/** Headers, in any form that `new Headers()` takes. (`HeadersInit` is not everywhere a global type.) */
export type HeadersInput = ConstructorParameters<typeof Headers>[0];

/** Headers that no caller sets. With some of them, the platform would send less or more than the body, or wait. */
const RESERVED = /^(?:authorization|cookie|host|content-length|transfer-encoding|connection|expect)$/i;

export function parseHeaders(headers: object): Readonly<Record<string, string>> {
  const parsed = new Headers();
  const entries: Iterable<unknown> = isIterable(headers) ? headers : Object.entries({ ...headers });
  for (const entry of entries) {
    if (!Array.isArray(entry) || entry.length !== 2)
      invalid("headers must be a record, or pairs of a name and a value");
    const [name, value] = entry as [unknown, unknown]; // pairs of anything
    if (value === undefined) continue;
    const written = String(name);
    if (RESERVED.test(written)) {
      invalid(`headers must not set ${written}: the client decides it`);
    }
    try {
      if (typeof value === "object" || typeof value === "function") throw new TypeError(); // the platform would send words for it
      parsed.append(name as string, value as string); // append throws for anything else
    } catch {
      // The platform's own message quotes the value.
      invalid(`headers has a name or value that is not allowed in an HTTP header: ${nameOf(written) ?? "a long one"}`);
    }
  }
  return Object.fromEntries(parsed);
}
