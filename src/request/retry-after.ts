const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const IMF_FIXDATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d{2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/;
const RFC_850 =
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (\d{2})-([A-Z][a-z]{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2}) GMT$/;
const ASCTIME = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ([A-Z][a-z]{2}) ([ \d]\d) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/;
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
  const imf = IMF_FIXDATE.exec(text);
  if (imf) return toEpoch([imf[3], imf[2], imf[1], imf[4], imf[5], imf[6]]);
  const rfc850 = RFC_850.exec(text);
  if (rfc850) {
    const year = String(fullYear(Number(rfc850[3]), clockMs));
    return toEpoch([year, rfc850[2], rfc850[1], rfc850[4], rfc850[5], rfc850[6]]);
  }
  const asctime = ASCTIME.exec(text);
  if (asctime) return toEpoch([asctime[6], asctime[1], asctime[2], asctime[3], asctime[4], asctime[5]]);
  return undefined;
}

// RFC 9110, section 5.6.7: a two-digit year more than 50 years ahead is the most recent past year with these digits.
function fullYear(twoDigits: number, clockMs: number): number {
  const thisYear = new Date(clockMs).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + twoDigits;
  return year > thisYear + 50 ? year - 100 : year;
}

function toEpoch([year, monthName, day, hour, minute, second]: readonly (string | undefined)[]): number | undefined {
  const month = MONTHS.indexOf(monthName ?? "");
  // A leap second is the next minute's first.
  if (month < 0 || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined;
  const midnight = Date.UTC(Number(year), month, Number(day));
  // Date.UTC rolls 31 February over into March, and takes years below 100 for 19xx.
  const isReal =
    new Date(midnight).getUTCDate() === Number(day) && new Date(midnight).getUTCFullYear() === Number(year);
  if (!isReal) return undefined;
  return midnight + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000;
}
