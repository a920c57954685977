/** Repeated fields are joined by commas, and two of the date forms have one of their own, behind the day of the week. */
const BETWEEN_MEMBERS = /(?<!\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*),/;

/**
 * The wait that a `Retry-After` asks for, in milliseconds, or `undefined` if it asks for nothing that can be understood
 * (RFC 9110, section 10.2.3). Seconds, decimals too, are rounded up to the millisecond; a date is measured against the
 * response's own `Date` where that is valid, else against `clockMs`, and is 0 when past. Where a field was repeated, as by
 * a proxy, its valid members count, and the longest wait wins. Nothing else is guessed at: `5s`, `1e3`, `-5` and ISO dates
 * ask for nothing.
 *
 * @param date the response's `Date` header
 * @param clockMs the local clock, in milliseconds since the epoch
 */
export function parseRetryAfter(value: string | null, date: string | null, clockMs: number): number | undefined {
  const dates = membersOf(date).flatMap((member) => parseHttpDate(member) ?? []);
  const reference = dates.length > 0 ? Math.min(...dates) : clockMs;
  const waits = membersOf(value).flatMap((member) => {
    if (/^\d+(?:\.\d+)?$/.test(member)) return toMilliseconds(Number(member));
    const at = parseHttpDate(member);
    return at === undefined ? [] : Math.max(0, at - reference);
  });
  return waits.length > 0 ? Math.max(...waits) : undefined;
}

function membersOf(value: string | null): string[] {
  return (value ?? "").split(BETWEEN_MEMBERS).map((member) => member.trim());
}

function toMilliseconds(seconds: number): number {
  // 2.007 * 1000 is 2007.0000000000002, and that would be rounded up.
  return Math.min(Math.ceil(Number((seconds * 1_000).toFixed(6))), Number.MAX_SAFE_INTEGER);
}

/** A date in any of the three forms of RFC 9110, section 5.6.7. All of them are in UTC, and one does not say so. */
export function parseHttpDate(text: string): number | undefined {
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun).* \d\d:\d\d:\d\d/.test(text)) return undefined;
  const at = Date.parse(`${text.replace(/ GMT$/, "")} GMT`);
  return Number.isNaN(at) ? undefined : at;
}
