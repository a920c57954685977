import type { HeadersInput } from "../wire/headers.ts";
import type { Query } from "../wire/query.ts";
import type { ApiResponse } from "./api-promise.ts";

/**
 * Rules for retries. A call's own `retry` is laid over the client's. No option makes the client retry other statuses than 401,
 * 408, 429 and 5xx, or a rotation that may have been applied.
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
   * Retries a `POST`, `PUT` or `PATCH` that may have been applied: you accept duplicates. Never for a rotation.
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
  /** Ends the call at once, whatever it is doing or waiting for: it rejects with `AbortError`. */
  signal?: AbortSignal | undefined;
  /** Deadline of one attempt in milliseconds: token provider, connect, headers and body. `false`: none. */
  timeoutMs?: number | false | undefined;
  /**
   * Deadline of the whole call in milliseconds: queueing, waits, every attempt, an asynchronous `schema`. In an iteration, per
   * page. `false`: none.
   */
  totalTimeoutMs?: number | false | undefined;
  /** Laid over the client's `retry`; `false` sends one request and never another. */
  retry?: RetryOptions | false | undefined;
  /**
   * Extra headers of this call, laid over the client's. `authorization`, `cookie`, `host` and the headers of the connection
   * are refused.
   */
  headers?: HeadersInput | undefined;
  /**
   * Adds what the API documentation does not show to the request: a filter of a list (on each page), the description of an issue. Not
   * for `request` and `paginate`, which have `query` and `json`.
   *
   * @example
   * await client.issues.create("web", { title: "Login fails", type: "bug" }, { extra: { json: { priority: "high" } } });
   */
  extra?: ExtraOptions | undefined;
  /**
   * Awaited before each request waits for its slot, so it may call the same client. A token that is set meanwhile is the
   * one that is sent. What it throws or rejects with ends the call as `AbortError` with that `cause`, and nothing is sent.
   * It returns nothing: any value ends the call as `ArgumentError`.
   */
  onRequest?: ((request: RequestInfo) => void | Promise<void>) | undefined;
  /**
   * Sees the final response's metadata once, after retries, also of a refusal. What it throws changes no call; the log
   * says it, once for a client.
   */
  onResponse?: ((response: ResponseInfo) => unknown) | undefined;
}
