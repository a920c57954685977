import { parseUrl } from "../checks/values.ts";
import type { RateLimitHead } from "../rate-limit/rate-limiter.ts";
import { parseRetryAfter } from "./retry-after.ts";

/**
 * The head of a response: what is known before its body is read. The status is 0 for a redirect that a browser hides, or
 * that a `fetch` has followed: then `location` is where that led.
 */
export interface ResponseHead extends RateLimitHead {
  readonly headers: Headers;
  /** A `fetch` has followed a redirect, so this is another request's response. */
  readonly isFollowed?: boolean;
}

/** Reads the head of the response to a request for `asked`. Of a redirect that was followed, only where it led counts. */
export function parseHead(response: Response, asked: string): ResponseHead {
  const { redirected = false, url = "" }: Partial<Response> = response; // a substitute need have neither
  const isFollowed = redirected || (url !== "" && url !== asked && isElsewhere(url, asked));
  if (!isFollowed) return { headers: response.headers, ...parseRateLimitHead(response) };
  const target = parseUrl(url);
  const headers = new Headers(target && { location: target.href });
  return { headers, ...parseRateLimitHead({ headers, status: 0 }), isFollowed };
}

function isElsewhere(url: string, asked: string): boolean {
  const { protocol, origin }: Partial<URL> = parseUrl(url) ?? {};
  return /^https?:$/.test(protocol ?? "") && origin !== parseUrl(asked)?.origin;
}

/** Reads the head of a response as far as it is about the token's limit (API documentation, section 8). */
export function parseRateLimitHead({ headers, status }: Pick<Response, "headers" | "status">): RateLimitHead {
  const isAsked = !isSuccess(status);
  return {
    status,
    limit: leadingInteger(headers.get("ratelimit-limit")),
    remaining: leadingInteger(headers.get("ratelimit-remaining")),
    retryAfterMs: isAsked ? parseRetryAfter(headers.get("retry-after"), headers.get("date"), Date.now()) : undefined,
  };
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

// `100, 100;w=60` is 100; a negative number, a word or nothing is nothing.
function leadingInteger(value: string | null): number | undefined {
  const digits = /^\s*(\d{1,15})(?!\d)/.exec(value ?? "");
  return digits ? Number(digits[1]) : undefined;
}
