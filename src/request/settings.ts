import { describeType } from "../describe-type.ts";
import type { AutomationError, ErrorDetails } from "../errors/automation-error.ts";

/** Whatever `new Headers()` takes. (`HeadersInit` is not everywhere a global type.) */
export type HeadersInput = ConstructorParameters<typeof Headers>[0];

/** How a call is sent again. Every property may be left out; a call's own `retry` is laid over the client's. */
export interface RetryOptions {
  /** Requests in all for failures that may pass, the first included. Default 3. */
  attempts?: number | undefined;
  /** The first backoff, in milliseconds; it doubles each time, times a random factor in [0.5, 1]. Default 500. */
  minDelayMs?: number | undefined;
  /** The longest backoff, in milliseconds. Default 8 000. */
  maxDelayMs?: number | undefined;
  /** How many rate-limit pauses a call sits through. Default 5. */
  rateLimitWaits?: number | undefined;
  /** A pause longer than this fails the call at once, with `retryAfterMs`. In milliseconds, default 120 000. */
  maxRetryAfterMs?: number | undefined;
  /** Sends a `POST`, `PUT` or `PATCH` again although it may have been applied: duplicates are accepted. Never for `rotate`. */
  unsafeWrites?: boolean | undefined;
}

/** Retry options with every value in place. */
export type RetryRules = { readonly [Key in keyof RetryOptions]-?: NonNullable<RetryOptions[Key]> };

/** What a call does unless told otherwise. */
export const DEFAULT_RETRY: RetryRules = Object.freeze({
  attempts: 3,
  minDelayMs: 500,
  maxDelayMs: 8_000,
  rateLimitWaits: 5,
  maxRetryAfterMs: 120_000,
  unsafeWrites: false,
});

/** `retry: false`: one request, whatever comes of it. */
export const NO_RETRY: RetryRules = Object.freeze({ ...DEFAULT_RETRY, attempts: 1, rateLimitWaits: 0 });

/** Throws one class of error for whatever is wrong: `ConfigError` for a client's settings, `ArgumentError` for a call's. */
export type Refuse = new (message: string, details?: ErrorDetails) => AutomationError;

/** Checks settings that clients and calls have in common, and says in one line what is wrong and what is accepted. */
export class SettingsCheck {
  readonly #error: Refuse;

  constructor(error: Refuse) {
    this.#error = error;
  }

  fail(message: string): never {
    throw new this.#error(message, { outcome: "not_sent" });
  }

  /** Refuses what is not an object, and keys that mean nothing: mostly misspelt ones. */
  object(value: unknown, what: string, keys: readonly string[]): void {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      this.fail(`${what} must be an object, not ${describeType(value)}`);
    }
    // A signal, say, that is passed in place of `{ signal }` has no keys of its own, and would pass for no options.
    const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null);
    if (!isPlain && Object.keys(value).length === 0) this.fail(`${what} must be a plain object of options`);
    const unknown = Object.keys(value).find((key) => !keys.includes(key));
    if (unknown !== undefined) {
      const shown = /^[A-Za-z]{1,30}$/.test(unknown) ? `: "${unknown}"` : "";
      this.fail(`${what}: unknown option${shown}; accepted: ${keys.join(", ")}`);
    }
  }

  /** Milliseconds of a timeout; `false` and `Infinity` are no limit. */
  timeout(value: unknown, what: string): number {
    if (value === false) return Number.POSITIVE_INFINITY;
    if (typeof value === "number" && value > 0) return value;
    return this.fail(`${what} must be a number of milliseconds above 0, or false, not ${shownNumber(value)}`);
  }

  /** A whole number from `least` up; `Infinity` is accepted. */
  count(value: unknown, what: string, least: number): number {
    if (
      typeof value === "number" &&
      value >= least &&
      (Number.isInteger(value) || value === Number.POSITIVE_INFINITY)
    ) {
      return value;
    }
    return this.fail(`${what} must be a whole number from ${least} up, not ${shownNumber(value)}`);
  }

  #delay(value: unknown, what: string): number {
    if (typeof value === "number" && value >= 0) return value;
    return this.fail(`${what} must be a number of milliseconds from 0 up, not ${shownNumber(value)}`);
  }

  /** Retry options laid over rules that hold already. */
  retry(value: unknown, base: RetryRules): RetryRules {
    if (value === undefined) return base;
    if (value === false) return NO_RETRY;
    this.object(value, "retry", Object.keys(DEFAULT_RETRY));
    const given = value as { readonly [Key in keyof RetryRules]?: unknown }; // its keys have been checked
    const over = <Key extends keyof RetryRules>(
      key: Key,
      check: (option: unknown) => RetryRules[Key],
    ): RetryRules[Key] => (given[key] === undefined ? base[key] : check(given[key]));
    return {
      attempts: over("attempts", (option) => this.count(option, "retry.attempts", 1)),
      minDelayMs: over("minDelayMs", (option) => this.#delay(option, "retry.minDelayMs")),
      maxDelayMs: over("maxDelayMs", (option) => this.#delay(option, "retry.maxDelayMs")),
      rateLimitWaits: over("rateLimitWaits", (option) => this.count(option, "retry.rateLimitWaits", 0)),
      maxRetryAfterMs: over("maxRetryAfterMs", (option) => this.#delay(option, "retry.maxRetryAfterMs")),
      unsafeWrites: over("unsafeWrites", (option) =>
        typeof option === "boolean"
          ? option
          : this.fail(`retry.unsafeWrites must be a boolean, not ${describeType(option)}`),
      ),
    };
  }

  /** Extra headers as a plain record with lower-case names. Those that carry the credential or the address are refused. */
  headers(value: unknown): Readonly<Record<string, string>> {
    if (value === undefined) return {};
    if (value === null || typeof value !== "object")
      this.fail(`headers must be a HeadersInit, not ${describeType(value)}`);
    const isRecord = !(Symbol.iterator in value);
    if (isRecord && Object.values(value).includes(null)) this.fail("headers must have strings as values, not null");
    let entries: [string, string][];
    try {
      entries = [...new Headers(withoutUndefined(value))];
    } catch {
      // The platform's own message quotes the value.
      return this.fail("headers has a name or value that is not allowed in an HTTP header");
    }
    const forbidden = entries.find(([name]) => FORBIDDEN_HEADERS.has(name));
    if (forbidden !== undefined) this.fail(`headers must not set ${forbidden[0]}; the client owns it`);
    return Object.fromEntries(entries);
  }

  /** An `AbortSignal`, of this realm or another. */
  signal(value: unknown): AbortSignal | undefined {
    if (value === undefined) return undefined;
    if (typeof value === "object" && value !== null && "aborted" in value && "addEventListener" in value) {
      return value as AbortSignal; // duck-typed, since another realm's signals are no instances of ours
    }
    return this.fail(`signal must be an AbortSignal, not ${describeType(value)}`);
  }

  /** A function, or nothing. */
  callback<Callback>(value: Callback | undefined, what: string): Callback | undefined {
    if (value === undefined || typeof value === "function") return value;
    return this.fail(`${what} must be a function, not ${describeType(value)}`);
  }
}

// `{ name: undefined }` means no header; the platform would send the word.
function withoutUndefined(value: object): HeadersInput {
  if (Symbol.iterator in value) return value; // whatever Headers does not take, it refuses
  return Object.fromEntries(Object.entries(value).filter(([, header]) => header !== undefined));
}

const FORBIDDEN_HEADERS: ReadonlySet<string> = new Set(["authorization", "cookie", "host"]);

function shownNumber(value: unknown): string {
  return typeof value === "number" ? String(value) : describeType(value);
}
