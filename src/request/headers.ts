import { nameOf, refuse } from "../base/check.ts";

/** Whatever `new Headers()` takes. (`HeadersInit` is not everywhere a global type.) */
export type HeadersInput = ConstructorParameters<typeof Headers>[0];

/** Headers that no caller sets, and why. */
const RESERVED_HEADERS: ReadonlyMap<string, string> = new Map([
  ["authorization", "the client sets it from the token"],
  ["cookie", "the client sends none"],
  ["host", "baseUrl says it"],
  // With others than its own, the platform would send less or more than the body, or wait.
  ["content-length", "the platform sets it from the body"],
  ["transfer-encoding", "the platform sets it from the body"],
  ["connection", "the platform sets it"],
  ["expect", "the platform would wait"],
]);

/** Extra headers as a plain record with lower-case names, without those that are `undefined`. */
export function readHeaders(headers: NonNullable<HeadersInput>): Readonly<Record<string, string>> {
  const read = new Headers();
  const entries: Iterable<unknown> = Symbol.iterator in headers ? headers : Object.entries<unknown>(headers);
  for (const entry of entries) {
    if (!Array.isArray(entry) || entry.length !== 2) refuse("headers must be a record, or pairs of a name and a value");
    const [name, value] = entry as [unknown, unknown]; // pairs of anything
    if (value === undefined) continue;
    const reason = RESERVED_HEADERS.get(String(name).toLowerCase());
    if (reason !== undefined) refuse(`headers must not set ${String(name)}: ${reason}`);
    try {
      if (value === null) throw new TypeError("The platform would send a word.");
      read.append(name as string, value as string); // which refuses what is none
    } catch {
      // The platform's own message quotes the value.
      refuse(
        `headers has a name or value that is not allowed in an HTTP header: ${nameOf(String(name)) ?? "a long one"}`,
      );
    }
  }
  return Object.fromEntries(read);
}
