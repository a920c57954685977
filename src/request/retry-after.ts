/** The three forms of RFC 9110, section 5.6.7, and how the parts of each make `21 Nov 2026 02:00:05`. */
const HTTP_DATES: readonly (readonly [form: RegExp, parts: string])[] = [
  [/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d\d \w{3} \d{4} [\d:]{8}) GMT$/, "$1"],
  [/^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (\d\d)-(\w{3})-(\d\d) ([\d:]{8}) GMT$/, "$1 $2 $3 $4"],
  [/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (\w{3}) ([ \d]\d) ([\d:]{8}) (\d{4})$/, "$2 $1 $4 $3"],
];
const WEEKDAY = /^\s*(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*$/;
const SECONDS = /^\d+(?:\.\d+)?$/;

/**
 * How long a `Retry-After` asks to wait, in milliseconds, or `undefined` if it asks for nothing that can be understood
 * (RFC 9110, section 10.2.3). Seconds, decimals too, are rounded up to the millisecond; a date is measured against the
 * response's own `Date` where that is valid, else against `clockMs`, and is 0 when past. Where the field was repeated,
 * the longest valid member wins. Nothing else is guessed at: `5s`, `1e3`, `-5` and ISO dates ask for nothing.
 *
 * @param date the response's `Date` header
 * @param clockMs the local clock, in milliseconds since the epoch
 */
export function parseRetryAfter(value: string | null, date: string | null, clockMs: number): number | undefined {
  if (value === null) return undefined;
  const reference = parseHttpDate(date?.trim() ?? "", clockMs) ?? clockMs;
  const waits = membersOf(value)
    .map((member) => parseMember(member, reference, clockMs))
    .filter((wait) => wait !== undefined);
  return waits.length > 0 ? Math.max(...waits) : undefined;
}

// Repeated fields are joined by commas, and two of the date forms have one of their own.
function membersOf(value: string): string[] {
  const members: string[] = [];
  for (const part of value.split(",")) {
    const last = members.at(-1);
    if (last !== undefined && WEEKDAY.test(last)) members[members.length - 1] = `${last},${part}`;
    else members.push(part);
  }
  return members.map((member) => member.trim());
}

function parseMember(member: string, reference: number, clockMs: number): number | undefined {
  if (SECONDS.test(member)) return Math.min(toMilliseconds(member), Number.MAX_SAFE_INTEGER);
  const at = parseHttpDate(member, clockMs);
  return at === undefined ? undefined : Math.max(0, at - reference);
}

// Decimal digits are shifted as text, since 1.005 * 1000 is 1004.9999999999999.
function toMilliseconds(seconds: string): number {
  const [whole = "0", fraction = ""] = seconds.split(".");
  const shown = Number(whole + fraction.slice(0, 3).padEnd(3, "0"));
  return /[1-9]/.test(fraction.slice(3)) ? shown + 1 : shown;
}

/** One of the three HTTP-date forms as milliseconds since the epoch; `undefined` for anything else. */
export function parseHttpDate(text: string, clockMs: number): number | undefined {
  const [form, parts] = HTTP_DATES.find(([candidate]) => candidate.test(text)) ?? [];
  if (form === undefined || parts === undefined) return undefined;
  const date = text
    .replace(form, parts)
    .replace(/^ /, "0")
    .replace(/ (\d\d) /, (_, year: string) => ` ${fullYear(Number(year), clockMs)} `);
  // A leap second is the next minute's first.
  const leap = date.endsWith(":60");
  const shown = leap ? date.replace(/60$/, "59") : date;
  const at = new Date(`Thu, ${shown} GMT`); // platforms do not look at the day of the week
  // They take 31 February for 3 March, though.
  if (at.toUTCString().slice(5, -4) !== shown) return undefined;
  return at.getTime() + (leap ? 1_000 : 0);
}

// A two-digit year more than 50 years ahead is the most recent past year with these digits.
function fullYear(twoDigits: number, clockMs: number): number {
  const thisYear = new Date(clockMs).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + twoDigits;
  return year > thisYear + 50 ? year - 100 : year;
}
