import type { OperationName } from "./endpoints.ts";

/** How the emulator refuses a request, by reason. A 429 is not among them: the contract defines it. */
export const REFUSALS = {
  missingToken: { status: 401, code: "unauthorized" },
  unknownToken: { status: 401, code: "unauthorized" },
  revokedToken: { status: 401, code: "unauthorized" },
  expiredToken: { status: 401, code: "unauthorized" },
  missingScope: { status: 403, code: "forbidden" },
  scopeEscalation: { status: 403, code: "forbidden" },
  unknownRoute: { status: 404, code: "not_found" },
  wrongMethod: { status: 405, code: "method_not_allowed" },
  unknownProject: { status: 404, code: "not_found" },
  unknownSession: { status: 404, code: "not_found" },
  unknownTokenRecord: { status: 404, code: "not_found" },
  malformedBody: { status: 400, code: "bad_request" },
  invalidField: { status: 422, code: "invalid_request" },
  limitTooSmall: { status: 422, code: "invalid_request" },
  limitTooLarge: { status: 422, code: "invalid_request" },
  invalidCursor: { status: 400, code: "invalid_cursor" },
  bodyTooLarge: { status: 413, code: "payload_too_large" },
} as const;

/** Why the emulator refuses a request. */
export type RefusalReason = keyof typeof REFUSALS;

/** How one kind of refusal looks on the wire. */
export interface RefusalConvention {
  /** An HTTP status from 400 to 599. */
  readonly status?: number | undefined;
  /** The `error` of the body. */
  readonly code?: string | undefined;
}

/** A JSON object with fields to add. */
export type Fields = Readonly<Record<string, unknown>>;

/** What gets additional fields: the records, a page, and the body of an error. */
export type ExtendedRecord = "project" | "issue" | "session" | "token" | "page" | "error";

/** Fields to add, by what they are added to. */
export type ExtraFields = Readonly<Partial<Record<ExtendedRecord, Fields | undefined>>>;

/** The rate limit headers of every response. */
export interface RateLimitHeaders {
  /** The name of the header with the ceiling; `null` for none. @default "RateLimit-Limit" */
  readonly limit?: string | null | undefined;
  /** The name of the header with what is left of the window; `null` for none. @default "RateLimit-Remaining" */
  readonly remaining?: string | null | undefined;
  /** The value of the ceiling: `600`, or `600, 600;w=60`, which names the window in seconds. @default "number" */
  readonly form?: "number" | "number_and_window" | undefined;
}

/** What a page of another origin may see. */
export interface CorsConvention {
  /** `Access-Control-Allow-Origin`; `null` for no CORS at all, also for preflights. @default "*" */
  readonly allowOrigin?: string | null | undefined;
  /** `Access-Control-Expose-Headers`. @default the rate limit headers, `Retry-After` and `x-request-id` */
  readonly exposeHeaders?: readonly string[] | undefined;
}

/**
 * What the contract leaves "not shown", as far as a client can see it over HTTP. Each has a default, listed in
 * `docs/emulator.md`; pass only what differs. Plain JSON, so that a file can hold it.
 */
export interface Conventions {
  /** Status and code of refusals. */
  readonly refusals?: Readonly<Partial<Record<RefusalReason, RefusalConvention | undefined>>> | undefined;
  /** The status (200 to 299) of success. With 204 or 205 there is no body. */
  readonly successStatus?: Readonly<Partial<Record<OperationName, number | undefined>>> | undefined;
  /** Fields that the contract does not show. They never replace one that it shows. */
  readonly extraFields?: ExtraFields | undefined;
  /** The path of the default base URL, with the version segment. @default "/api/v1" */
  readonly basePath?: string | undefined;
  /** The content type of JSON. @default "application/json; charset=utf-8" */
  readonly contentType?: string | undefined;
  /** How `next_cursor` says that a list ends: `null`, `""`, or not at all. @default "null" */
  readonly endOfList?: "null" | "empty" | "missing" | undefined;
  /** A `limit` below 1. `"refuse"` is the refusal `limitTooSmall`. @default "clamp" */
  readonly limitTooSmall?: "clamp" | "refuse" | undefined;
  /** A `limit` above 200. `"refuse"` is the refusal `limitTooLarge`. @default "clamp" */
  readonly limitTooLarge?: "clamp" | "refuse" | undefined;
  /** Names and form of the rate limit headers. */
  readonly rateLimitHeaders?: RateLimitHeaders | undefined;
  /** `Retry-After` of a 429: seconds, an HTTP-date, or `null` for none. @default "seconds" */
  readonly retryAfter?: "seconds" | "date" | null | undefined;
  /** CORS headers of every response. */
  readonly cors?: CorsConvention | undefined;
  /** The name of the header with the request id; `null` for none. @default "x-request-id" */
  readonly requestIdHeader?: string | null | undefined;
  /** The `Deprecation` header of every response. @default null */
  readonly deprecation?: string | null | undefined;
  /** The `Sunset` header of every response. @default null */
  readonly sunset?: string | null | undefined;
  /** How far the `Date` header is ahead of the emulator's clock, in milliseconds. @default 0 */
  readonly clockOffsetMs?: number | undefined;
  /** How long a token lives if its creator does not say. @default 90 */
  readonly tokenLifetimeDays?: number | undefined;
  /** The largest `expires_in_days` that is accepted. @default 3650 */
  readonly maxTokenLifetimeDays?: number | undefined;
  /** The types an issue may have; `null` for any string that is not empty. @default null */
  readonly issueTypes?: readonly string[] | null | undefined;
  /** The status of a new issue. @default "open" */
  readonly issueStatus?: string | undefined;
  /** The state of a new session. @default "running" */
  readonly sessionState?: string | undefined;
}
