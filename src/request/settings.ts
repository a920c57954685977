import {
  BOOLEAN,
  bare,
  countFrom,
  FUNCTION,
  given,
  type Kind,
  kind,
  nameOf,
  type Present,
  reading,
  refuse,
  refuseSurplus,
  type Shape,
  SIGNAL,
  TIMEOUT,
} from "../base/check.ts";
import type { CallOptions, HeadersInput, RetryOptions } from "./call-options.ts";

/** Retry options with every value in place. */
export type RetryRules = { readonly [Key in keyof RetryOptions]-?: NonNullable<RetryOptions[Key]> };

/** The defaults. */
export const DEFAULT_RETRY: RetryRules = Object.freeze({
  attempts: 3,
  minDelayMs: 500,
  maxDelayMs: 8_000,
  rateLimitWaits: 5,
  maxRetryAfterMs: 120_000,
  unsafeWrites: false,
});

/** The settings of a call. A client has the same for its calls, without what is one call's alone. */
export interface CallSettings extends Readonly<Pick<CallOptions, "signal" | "onRequest" | "onResponse">> {
  readonly timeoutMs: number;
  readonly totalTimeoutMs: number;
  /** `false`: one request, no wait for a pause, no renewal of the token. */
  readonly retry: RetryRules | false;
  readonly headers: Readonly<Record<string, string>>;
}

/** Checked options, before they are laid over the settings of a client: what is left out is the client's. */
export type CheckedOptions<Settings = CallSettings> = Partial<Omit<Settings, "retry">> & {
  readonly retry?: Partial<RetryRules> | false;
};

const DELAY: Kind = kind("a number of milliseconds from 0 up", (value) => typeof value === "number" && value >= 0);

const RETRY: Shape<RetryOptions> = {
  attempts: countFrom(1),
  minDelayMs: DELAY,
  maxDelayMs: DELAY,
  rateLimitWaits: countFrom(0),
  maxRetryAfterMs: DELAY,
  unsafeWrites: BOOLEAN,
};

const LIMIT: Kind = reading(TIMEOUT, (limit: number | false) => (limit === false ? Number.POSITIVE_INFINITY : limit));

/** Options that clients and calls share. */
export const SHARED_OPTIONS: Shape<Pick<CallOptions, "timeoutMs" | "totalTimeoutMs" | "retry" | "headers">> = {
  timeoutMs: LIMIT,
  totalTimeoutMs: LIMIT,
  retry: reading(
    kind("an object such as { attempts: 3 }, or false", (value) => value === false || isObject(value)),
    (retry: RetryOptions | false) => retry && given(retry, "retry", RETRY),
  ),
  headers: reading(kind("a HeadersInit", isObject), readHeaders),
};

const CALL_OPTIONS: Shape<CallOptions> = {
  ...SHARED_OPTIONS,
  signal: SIGNAL,
  onRequest: FUNCTION,
  onResponse: FUNCTION,
};

const NO_OPTIONS: CheckedOptions = Object.freeze({});

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/**
 * Checks and copies the options of a call, so that later changes have no effect. `last` is what was passed as the last
 * argument of the method, and behind it; `own` are the options that only this method takes.
 */
export function readOptions<Options extends CallOptions>(
  last: readonly [options?: Options | undefined],
  own?: Shape<Omit<Options, keyof CallOptions>>,
): CheckedOptions & Present<Omit<Options, keyof CallOptions>> {
  const [options, ...surplus] = last;
  refuseSurplus(surplus);
  const checked =
    options === undefined && own === undefined
      ? NO_OPTIONS
      : given<CallOptions>(options, "options", { ...CALL_OPTIONS, ...own });
  return checked as CheckedOptions & Present<Omit<Options, keyof CallOptions>>; // as their kinds read them
}

/** Options laid over settings; those of `retry` and `headers` one by one. */
export function laidOver<Settings extends CallSettings>(options: CheckedOptions<Settings>, base: Settings): Settings {
  if (options === NO_OPTIONS) return base;
  const own = bare<CheckedOptions>(options);
  const retry = own.retry ? { ...(base.retry || DEFAULT_RETRY), ...own.retry } : (own.retry ?? base.retry);
  const headers = { ...base.headers, ...own.headers };
  return bare<CallSettings>(base, own as CallSettings, { retry, headers }) as Settings; // what both have
}

/** Headers that no caller sets, and why. */
export const RESERVED_HEADERS: ReadonlyMap<string, string> = new Map([
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
