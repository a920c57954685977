import { BOOLEAN, Check, countFrom, type Kind, kind, type Shape, TIMEOUT } from "../check.ts";

/** Whatever `new Headers()` takes. (`HeadersInit` is not everywhere a global type.) */
export type HeadersInput = ConstructorParameters<typeof Headers>[0];

/**
 * How calls are retried. A call's own `retry` is laid over the client's. Never retried, whatever these options say: statuses
 * other than 401, 408, 429 and 5xx, and rotations that may have been applied.
 */
export interface RetryOptions {
  /**
   * Attempts in all for failures that may pass, the first one included.
   *
   * @default 3
   */
  attempts?: number | undefined;
  /**
   * The first backoff, in milliseconds. It doubles each time, and is multiplied by a random factor in [0.5, 1].
   *
   * @default 500
   */
  minDelayMs?: number | undefined;
  /**
   * The longest backoff, in milliseconds.
   *
   * @default 8_000
   */
  maxDelayMs?: number | undefined;
  /**
   * The number of rate-limit pauses that a call waits for.
   *
   * @default 5
   */
  rateLimitWaits?: number | undefined;
  /**
   * The longest `Retry-After` that a call waits for, in milliseconds; a longer one fails the call at once.
   *
   * @default 120_000
   */
  maxRetryAfterMs?: number | undefined;
  /**
   * Retries a `POST`, `PUT` or `PATCH` that may have been applied: the caller accepts duplicates. Never for `rotate`.
   *
   * @default false
   */
  unsafeWrites?: boolean | undefined;
}

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

const DELAY: Kind = kind("a number of milliseconds from 0 up", (value) => typeof value === "number" && value >= 0);

const RETRY: Shape<RetryOptions> = {
  attempts: countFrom(1),
  minDelayMs: DELAY,
  maxDelayMs: DELAY,
  rateLimitWaits: countFrom(0),
  maxRetryAfterMs: DELAY,
  unsafeWrites: BOOLEAN,
};

/** Options that clients and calls share. */
export interface SharedOptions {
  timeoutMs?: number | false | undefined;
  totalTimeoutMs?: number | false | undefined;
  retry?: RetryOptions | false | undefined;
  headers?: HeadersInput | undefined;
}

/** The settings of a call. A client has the same, and a call lays its own over them. */
export interface CallSettings {
  readonly timeoutMs: number;
  readonly totalTimeoutMs: number;
  /** `false`: one request, no wait for a pause, no renewal of the token. */
  readonly retry: RetryRules | false;
  readonly headers: Readonly<Record<string, string>>;
}

export const SHARED_OPTIONS: Shape<SharedOptions> = {
  timeoutMs: TIMEOUT,
  totalTimeoutMs: TIMEOUT,
  retry: kind("an object, or false", (value) => value === false || isObject(value)),
  headers: kind("a HeadersInit", isObject),
};

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** Checks settings that clients and calls share. */
export class SettingsCheck extends Check {
  /** Options laid over settings. */
  over({ timeoutMs, totalTimeoutMs, retry, headers }: SharedOptions, base: CallSettings): CallSettings {
    return {
      timeoutMs: millisecondsOf(timeoutMs) ?? base.timeoutMs,
      totalTimeoutMs: millisecondsOf(totalTimeoutMs) ?? base.totalTimeoutMs,
      retry: this.retry(retry, base.retry),
      headers: headers === undefined ? base.headers : { ...base.headers, ...this.headers(headers) },
    };
  }

  /** Retry options over the rules of the client; over the defaults, if the client has none. */
  retry(given: RetryOptions | false | undefined, base: RetryRules | false): RetryRules | false {
    if (given === undefined || given === false) return given ?? base;
    return { ...(base === false ? DEFAULT_RETRY : base), ...this.options(given, "retry", RETRY) };
  }

  /** Extra headers as a plain record with lower-case names. Those that carry the credential or the address are refused. */
  headers(given: HeadersInput | undefined): Readonly<Record<string, string>> {
    if (given === undefined) return {};
    let entries: [string, string][];
    try {
      entries = [...toHeaders(given)];
    } catch {
      // The platform's own message quotes the value.
      return this.fail("headers has a name or value that is not allowed in an HTTP header");
    }
    const forbidden = entries.find(([name]) => CLIENTS_OWN_HEADERS.includes(name));
    if (forbidden !== undefined) this.fail(`headers must not set ${forbidden[0]}; the client owns it`);
    return Object.fromEntries(entries);
  }
}

/** Milliseconds of a timeout. */
export function millisecondsOf(timeout: number | false | undefined): number | undefined {
  return timeout === false ? Number.POSITIVE_INFINITY : timeout;
}

/** Headers that only the client sets: the token, and the address. */
export const CLIENTS_OWN_HEADERS: readonly string[] = ["authorization", "cookie", "host"];

// The platform would send `undefined` and `null` as words; `undefined` means no header.
function toHeaders(given: NonNullable<HeadersInput>): Headers {
  if (Symbol.iterator in given) return new Headers(given);
  const values = Object.entries<unknown>(given).filter(([, value]) => value !== undefined);
  if (values.some(([, value]) => value === null)) throw new TypeError("null");
  return new Headers(values as [string, string][]); // Headers refuses what it does not take
}
