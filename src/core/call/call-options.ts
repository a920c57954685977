import type { HeadersInput } from "../wire/headers.ts";
import type { Query } from "../wire/query.ts";
import type { ApiResponse } from "./api-promise.ts";

/**
 * Rules for retries. A call's own `retry` is laid over the client's. No option makes the client retry other statuses than 401,
 * 408, 429 and 5xx, or a rotation that may have been applied.
 */
export interface RetryOptions {
  /**
   * The most attempts after failures that may pass. The first attempt counts.
   *
   * @default 3
   */
  attempts?: number | undefined;
  /**
   * The first backoff, in milliseconds. It doubles each time, times a random factor between 0.5 and 1.
   *
   * With `minDelayMs: 10_000` alone, `maxDelayMs` is 10,000 as well. With `maxDelayMs: 200` alone, `minDelayMs` is 200.
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
   * The most waits for the rate limit in a row, while no request of the token gets through. They do not count as
   * `attempts`.
   *
   * @default 5
   */
  rateLimitWaits?: number | undefined;
  /**
   * The longest `Retry-After` that a call waits for, in milliseconds. A longer one fails the call at once.
   *
   * @default 120_000
   */
  maxRetryAfterMs?: number | undefined;
  /**
   * Also retries a `POST`, `PUT` or `PATCH` that may have been applied, so it may be applied twice. Never for a
   * rotation.
   *
   * @default false
   */
  unsafeWrites?: boolean | undefined;
}

/** The final response of a call, as `withResponse()` has it, also of a refusal. */
export interface ResponseInfo extends ApiResponse {
  /** The call's id, as in events and errors. */
  readonly callId: string;
}

/** The request that `onRequest` is called for. */
export interface RequestInfo {
  /** The number of the request within the call, from 1. */
  readonly attempt: number;
  /** The call's id, as in events. */
  readonly callId: string;
  /** Such as `"issues.create"`. */
  readonly operation: string;
}

/** Additions to a request that the API documentation does not show, sent as they are. */
export interface ExtraOptions {
  /** More query parameters, such as a filter of a list. A parameter of the method itself is refused. */
  query?: Query | undefined;
  /** More members of the body. A field of the method itself is refused, and any where the method sends no body. */
  json?: Readonly<Record<string, unknown>> | undefined;
}

/** The last argument of every method. Every property may be left out. */
export interface CallOptions {
  /** Ends the call at once. It rejects with `AbortError`. */
  signal?: AbortSignal | undefined;
  /**
   * The longest time of one attempt, in milliseconds. `false`: no limit.
   *
   * It covers the token provider, connecting, headers and body.
   *
   * @default the client's
   */
  timeoutMs?: number | false | undefined;
  /**
   * The longest time of the whole call with its waits, in milliseconds. In a list it is for each page. `false`: no limit.
   *
   * @default the client's
   */
  totalTimeoutMs?: number | false | undefined;
  /**
   * Rules for retries, laid over the client's. `false` sends one request, waits for no rate limit and renews no token.
   *
   * @default the client's
   */
  retry?: RetryOptions | false | undefined;
  /** More headers of this call, laid over the client's. */
  headers?: HeadersInput | undefined;
  /**
   * Adds what the API documentation does not show: a filter of a list, a field of an issue.
   *
   * Not for `request` and `paginate`, which have `query` and `json`.
   *
   * @example
   * await client.issues.create("web", { title: "Login fails", type: "bug" }, { extra: { json: { priority: "high" } } });
   */
  extra?: ExtraOptions | undefined;
  /**
   * Called before each request, and awaited. If it throws, the call rejects with `AbortError` and sends nothing.
   *
   * The request has not waited for its slot yet, so it may call the same client. A token that is set meanwhile is the one
   * that is sent. It returns nothing: any value ends the call as `ArgumentError`.
   */
  onRequest?: ((request: RequestInfo) => void | Promise<void>) | undefined;
  /**
   * Called once with the final response, also of a refusal.
   *
   * An error that it throws changes no call. The log says it, once for a client.
   */
  onResponse?: ((response: ResponseInfo) => unknown) | undefined;
}
