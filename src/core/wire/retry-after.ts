/** The three forms of RFC 9110, section 5.6.7, and how the parts of each make `21 Nov 2026 02:00:05`. */
const HTTP_DATES: readonly (readonly [form: RegExp, parts: string])[] = [
  [/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d\d \w{3} \d{4} [\d:]{8}) GMT$/, "$1"],
  [/^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (\d\d)-(\w{3})-(\d\d) ([\d:]{8}) GMT$/, "$1 $2 $3 $4"],
  [/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (\w{3}) ([ \d]\d) ([\d:]{8}) (\d{4})$/, "$2 $1 $4 $3"],
];

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
  const dates = membersOf(date).flatMap((member) => parseHttpDate(member, clockMs) ?? []);
  const reference = dates.length > 0 ? Math.min(...dates) : clockMs;
  const waits = membersOf(value).flatMap((member) => {
    if (/^\d+(?:\.\d+)?$/.test(member)) return toMilliseconds(Number(member));
    const at = parseHttpDate(member, clockMs);
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

export function parseHttpDate(text: string, clockMs: number): number | undefined {
  const form = HTTP_DATES.find(([candidate]) => candidate.test(text));
  if (form === undefined) return undefined;
  const date = text
    .replace(...form)
    .replace(/^ /, "0")
    .replace(/ (\d\d) /, (_, year: string) => ` ${fullYear(Number(year), clockMs)} `);
  // A leap second is the next minute's first.
  const shown = date.replace(/:60$/, ":59");
  const at = new Date(`Thu, ${shown} GMT`); // platforms do not look at the day of the week
  // Platforms take 31 February for 3 March.
  if (at.toUTCString().slice(5, -4) !== shown) return undefined;
  return at.getTime() + (shown === date ? 0 : 1_000);
}

// A two-digit year more than 50 years ahead is the most recent past year with these digits.
function fullYear(twoDigits: number, clockMs: number): number {
  const thisYear = new Date(clockMs).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + twoDigits;
  return year > thisYear + 50 ? year - 100 : year;
}
