import type { RateLimitAnswer } from "../rate-limit/rate-limiter.ts";
import type { ResponseHead } from "./exchange.ts";
import { parseRetryAfter } from "./retry-after.ts";

/** What the head of a response says about the token's limit (contract, section 8). */
export function readRateLimit({ headers, status }: ResponseHead): RateLimitAnswer {
  return {
    status,
    limit: leadingInteger(headers.get("ratelimit-limit")),
    remaining: leadingInteger(headers.get("ratelimit-remaining")),
    retryAfterMs: status === 429 ? readRetryAfter(headers) : undefined,
  };
}

/** `Retry-After` in milliseconds, measured against the response's own `Date` where it is valid. */
export function readRetryAfter(headers: Headers): number | undefined {
  return parseRetryAfter(headers.get("retry-after"), headers.get("date"), Date.now());
}

// `100, 100;w=60` is 100; a negative number, a word or nothing is nothing.
function leadingInteger(value: string | null): number | undefined {
  const digits = /^\s*(\d{1,15})(?!\d)/.exec(value ?? "");
  return digits ? Number(digits[1]) : undefined;
}
