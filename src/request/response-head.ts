import type { RateLimitHead } from "../rate-limit/rate-limiter.ts";
import { parseRetryAfter } from "./retry-after.ts";

/** The head of a response: what is known before its body is read. */
export interface ResponseHead {
  /** The HTTP status; 0 for a redirect that a browser hides. */
  readonly status: number;
  readonly headers: Headers;
  /** A 3xx, also one that a browser hides behind an opaque response. */
  readonly isRedirect: boolean;
  /** What it says about the token's limit. */
  readonly limits: RateLimitHead;
}

/** Reads the head of a response. */
export function readHead(response: Response): ResponseHead {
  const { status, headers, type } = response;
  const isRedirect = type === "opaqueredirect" || (status >= 300 && status < 400);
  return { status, headers, isRedirect, limits: readRateLimit(response) };
}

/** What the head of a response says about the token's limit (contract, section 8). */
export function readRateLimit({ headers, status }: Pick<Response, "headers" | "status">): RateLimitHead {
  // Measured against the response's own `Date` where it is valid.
  const retryAfter = (): number | undefined =>
    parseRetryAfter(headers.get("retry-after"), headers.get("date"), Date.now());
  return {
    status,
    limit: leadingInteger(headers.get("ratelimit-limit")),
    remaining: leadingInteger(headers.get("ratelimit-remaining")),
    retryAfterMs: status === 429 || status === 503 ? retryAfter() : undefined,
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
