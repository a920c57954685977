import type { Quota } from "./rate-limit.ts";

/** Header fields to set (an array repeats the field), or, with `null`, to leave out. */
export type HeaderScript = Readonly<Record<string, string | readonly string[] | null>>;

/** The headers of the contract's section 8, on every response. */
export function setQuota(headers: Headers, quota: Quota): void {
  headers.set("ratelimit-limit", String(quota.limit));
  headers.set("ratelimit-remaining", String(quota.remaining));
  if (quota.retryAfterSeconds !== undefined) headers.set("retry-after", String(quota.retryAfterSeconds));
}

/**
 * Applies a script, and returns the names (in lower case) that it leaves out. Throws a `TypeError` for a name or value
 * that HTTP forbids.
 */
export function scriptHeaders(headers: Headers, script: HeaderScript): string[] {
  for (const [name, value] of Object.entries(script)) {
    headers.delete(name);
    for (const one of value === null ? [] : [value].flat()) headers.append(name, one);
  }
  return Object.keys(script)
    .filter((name) => script[name] === null)
    .map((name) => name.toLowerCase());
}
