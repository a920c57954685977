import { hasMethods, ignoreErrors } from "../checks/checks.ts";
import { parseJson } from "../checks/json.ts";
import type { RateLimitHead, ReportedPause } from "../rate-limit/rate-limiter.ts";
import { type Deadline, STOPPED } from "../time/deadline.ts";

/** The head of a response: what is known before its body is read. The status is 0 for a redirect that a browser hides. */
export interface ResponseHead extends RateLimitHead {
  readonly headers: Headers;
}

/** A response, read as far as it matters. */
export interface Exchange {
  readonly head: ResponseHead;
  /** The body of a success, where it matters. */
  readonly text?: string | undefined;
  /** The body of any other, as JSON, else as text; `undefined` if it has none, or none that came within a moment. */
  readonly body?: unknown;
  /** The pause that it began, if it is a 429, as the rate limiter says. */
  readonly pause?: ReportedPause | undefined;
}

/** Reads the head of a response. */
export function readHead(response: Response): ResponseHead {
  return { headers: response.headers, ...readRateLimit(response) };
}

/** What the head of a response says about the token's limit (contract, section 8). */
export function readRateLimit({ headers, status }: Pick<Response, "headers" | "status">): RateLimitHead {
  const mayAsk = status === 429 || status === 503;
  return {
    status,
    limit: leadingInteger(headers.get("ratelimit-limit")),
    remaining: leadingInteger(headers.get("ratelimit-remaining")),
    retryAfterMs: mayAsk ? parseRetryAfter(headers.get("retry-after"), headers.get("date"), Date.now()) : undefined,
  };
}

/** Whether a status is a success, a 2xx. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

// `100, 100;w=60` is 100; a negative number, a word or nothing is nothing.
function leadingInteger(value: string | null): number | undefined {
  const digits = /^\s*(\d{1,15})(?!\d)/.exec(value ?? "");
  return digits ? Number(digits[1]) : undefined;
}

/** The three forms of RFC 9110, section 5.6.7, and how the parts of each make `21 Nov 2026 02:00:05`. */
const HTTP_DATES: readonly (readonly [form: RegExp, parts: string])[] = [
  [/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d\d \w{3} \d{4} [\d:]{8}) GMT$/, "$1"],
  [/^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (\d\d)-(\w{3})-(\d\d) ([\d:]{8}) GMT$/, "$1 $2 $3 $4"],
  [/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (\w{3}) ([ \d]\d) ([\d:]{8}) (\d{4})$/, "$2 $1 $4 $3"],
];
/** Repeated fields are joined by commas, and two of the date forms have one of their own, behind the day of the week. */
const BETWEEN_MEMBERS = /(?<!\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*),/;

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
  const reference = parseHttpDate(date?.trim() ?? "", clockMs) ?? clockMs;
  const waits = (value ?? "").split(BETWEEN_MEMBERS).flatMap((part) => {
    const member = part.trim();
    if (/^\d+(?:\.\d+)?$/.test(member)) return toMilliseconds(Number(member));
    const at = parseHttpDate(member, clockMs);
    return at === undefined ? [] : Math.max(0, at - reference);
  });
  return waits.length > 0 ? Math.max(...waits) : undefined;
}

function toMilliseconds(seconds: number): number {
  // 1.005 * 1000 is 1004.9999999999999.
  return Math.min(Math.ceil(Number((seconds * 1_000).toFixed(6))), Number.MAX_SAFE_INTEGER);
}

/** One of the three HTTP-date forms as milliseconds since the epoch; `undefined` for anything else. */
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
  // They take 31 February for 3 March, though.
  if (at.toUTCString().slice(5, -4) !== shown) return undefined;
  return at.getTime() + (shown === date ? 0 : 1_000);
}

// A two-digit year more than 50 years ahead is the most recent past year with these digits.
function fullYear(twoDigits: number, clockMs: number): number {
  const thisYear = new Date(clockMs).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + twoDigits;
  return year > thisYear + 50 ? year - 100 : year;
}

/** At most so much of a refusal's body is read. */
const MAX_REFUSAL_BYTES = 64 * 1024;
/** A refusal is worth reporting without its body: it is not waited for longer than this. */
const REFUSAL_BODY_MS = 1_000;
/** The body of a 429 even less, since the call waits to be sent again. */
const RATE_LIMIT_BODY_MS = 250;

const TAKEN = "the fetch option returned a response whose body was read already: read a clone() of it instead";

/** What reading a body came to. `text`: the part that was received. */
export type BodyText =
  | { readonly kind: "whole"; readonly text: string }
  | { readonly kind: "oversized" }
  | { readonly kind: "cut"; readonly text: string; readonly cause: unknown }
  | { readonly kind: "stopped"; readonly text: string };

/** How much of a body is read. */
interface Limits {
  /** The most bytes, after decompression. */
  readonly maxBytes: number;
  /** Whether what was received is enough, also where the service leaves the stream open. */
  readonly isEnough?: (text: string) => boolean;
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** Reads the text of a body. Never rejects. */
export async function readBody(response: Response, deadline: Deadline, limits: Limits): Promise<BodyText> {
  const received = { text: "" };
  let reader: Reader | undefined;
  try {
    const { body, bodyUsed } = response; // mocks may have neither
    if (bodyUsed || body?.locked) throw new TypeError(TAKEN);
    // Other implementations of `fetch` have streams of their own, or none: `text()` reads those.
    reader = hasMethods(body, "getReader") ? body?.getReader() : undefined;
    return await deadline.race(
      reader === undefined ? readWhole(response, limits) : readParts(reader, received, limits),
    );
  } catch (cause) {
    return cause === STOPPED ? { kind: "stopped", ...received } : { kind: "cut", ...received, cause };
  } finally {
    // Frees the connection where something is left; where nothing is, it does nothing.
    void ignoreErrors(() => reader?.cancel());
  }
}

/**
 * A refusal's body, if all of it comes within a moment and is no larger than 64 KiB: parsed if it is JSON, else as text.
 * `undefined` if it is empty. Never rejects.
 */
export async function readBriefly(response: Response, deadline: Deadline): Promise<unknown> {
  const patience = deadline.within(response.status === 429 ? RATE_LIMIT_BODY_MS : REFUSAL_BODY_MS);
  const isEnough = (text: string): boolean => /\}\s*$/.test(text) && parseJson(text) !== undefined;
  const body = await readBody(response, patience, { maxBytes: MAX_REFUSAL_BYTES, isEnough });
  patience.release();
  // Where a body has no reader, the signal of its request alone frees what is left of it.
  if (body.kind === "stopped" && !hasMethods(response.body, "getReader")) deadline.end();
  if (body.kind !== "whole" || body.text.trim() === "") return undefined;
  const json = parseJson(body.text);
  return json === undefined ? body.text : json;
}

async function readParts(reader: Reader, received: { text: string }, limits: Limits): Promise<BodyText> {
  const decoder = new TextDecoder();
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (!done) {
      // The decoder's own message would quote the part, which may hold a one-time secret.
      if (typeof value?.byteLength !== "number") throw new TypeError("a part of its stream is not bytes");
      // An empty part counts as a byte: an endless stream of empty parts would block the process.
      bytes += value.byteLength || 1;
    }
    if (bytes > limits.maxBytes) return { kind: "oversized" };
    received.text += decoder.decode(value, { stream: !done });
    if (done || limits.isEnough?.(received.text)) return { kind: "whole", ...received };
  }
}

async function readWhole(response: Response, { maxBytes }: Limits): Promise<BodyText> {
  const text: unknown = await response.text();
  if (typeof text !== "string")
    throw new TypeError("text() of the response resolved with something that is not a string");
  // In UTF-8 a UTF-16 unit has three bytes at most.
  const isLarger = text.length * 3 > maxBytes && new TextEncoder().encode(text).byteLength > maxBytes;
  return isLarger ? { kind: "oversized" } : { kind: "whole", text };
}
