import type { OperationName } from "./endpoints.ts";

/** Status and code of each refusal, by reason. A 429 is not among them: the API documentation defines it. */
export const REFUSALS = {
  /** No `Authorization: Bearer …`. */
  missingToken: { status: 401, code: "unauthorized" },
  /** No such token. */
  unknownToken: { status: 401, code: "unauthorized" },
  /** It was revoked, rotated or leaked. */
  revokedToken: { status: 401, code: "unauthorized" },
  /** Its `expires_at` has come. */
  expiredToken: { status: 401, code: "unauthorized" },
  /** The token or its owner lacks the scope; a token without scopes, for any request. */
  missingScope: { status: 403, code: "forbidden" },
  /** An unknown scope, or a scope beyond the creator's own. */
  scopeEscalation: { status: 403, code: "forbidden" },
  /** No endpoint has this path. */
  unknownRoute: { status: 404, code: "not_found" },
  /** Another method; `Allow` names the right ones. */
  wrongMethod: { status: 405, code: "method_not_allowed" },
  /** Neither the id nor the name of a project. */
  unknownProject: { status: 404, code: "not_found" },
  /** No such session. */
  unknownSession: { status: 404, code: "not_found" },
  /** No active token of the same owner has this id. */
  unknownTokenRecord: { status: 404, code: "not_found" },
  /** The body is no JSON object in UTF-8. */
  malformedBody: { status: 400, code: "bad_request" },
  /** A field or `limit` is missing, of the wrong type or out of range. */
  invalidField: { status: 422, code: "invalid_request" },
  /** `limit` is below 1, and not clamped. */
  limitTooSmall: { status: 422, code: "invalid_request" },
  /** `limit` is above 200, and not clamped. */
  limitTooLarge: { status: 422, code: "invalid_request" },
  /** Not issued by this emulator for this list. */
  invalidCursor: { status: 400, code: "invalid_cursor" },
  /** More than 1 MiB; the server closes the connection. */
  bodyTooLarge: { status: 413, code: "payload_too_large" },
} as const;

/** Why the emulator refuses a request. */
export type RefusalReason = keyof typeof REFUSALS;

/** Status and code of one kind of refusal. */
export interface RefusalConvention {
  /** An HTTP status from 400 to 599. */
  readonly status?: number | undefined;
  /** The `error` of the body. */
  readonly code?: string | undefined;
}

/** A JSON object with fields to add. */
export type Fields = Readonly<Record<string, unknown>>;

/** The objects that can get additional fields: records, a page, and the body of an error. */
export type ExtendedRecord = "project" | "issue" | "session" | "token" | "page" | "error";

/** Fields to add, by what they are added to. */
export type ExtraFields = Readonly<Partial<Record<ExtendedRecord, Fields | undefined>>>;

/** The rate limit headers of every response. */
export interface RateLimitHeaders {
  /** The name of the header with the ceiling; `null` for none. @default "RateLimit-Limit" */
  readonly limit?: string | null | undefined;
  /** The name of the header with the rest of the window; `null` for none. @default "RateLimit-Remaining" */
  readonly remaining?: string | null | undefined;
  /** The ceiling: `"number"` is `600`, `"number_and_window"` is `600, 600;w=60`. @default "number" */
  readonly form?: "number" | "number_and_window" | undefined;
}

/** The headers that let a page of another origin see a response. */
export interface CorsConvention {
  /** `Access-Control-Allow-Origin`; `null` for no CORS at all. @default "*" */
  readonly allowOrigin?: string | null | undefined;
  /** `Access-Control-Expose-Headers`. @default the rate limit headers, `Retry-After` and `x-request-id` */
  readonly exposeHeaders?: readonly string[] | undefined;
}

/**
 * The parts of the service that the API documentation leaves "not shown", as far as a client can see them. Each has a default, listed
 * in `docs/reference/emulator.md`; pass only what differs. Plain JSON, so that a file can hold it.
 */
export interface Conventions {
  /** Status and code of refusals. */
  readonly refusals?: Readonly<Partial<Record<RefusalReason, RefusalConvention | undefined>>> | undefined;
  /** The status (200 to 299) of success. With 204 or 205 there is no body. */
  readonly successStatus?: Readonly<Partial<Record<OperationName, number | undefined>>> | undefined;
  /** Fields that the API documentation does not show. They never replace one that it shows. */
  readonly extraFields?: ExtraFields | undefined;
  /** The path of the default base URL, with the version segment. @default "/api/v1" */
  readonly basePath?: string | undefined;
  /** The content type of JSON. @default "application/json; charset=utf-8" */
  readonly contentType?: string | undefined;
  /** The `next_cursor` of a last page: `"null"`, `"empty"` (`""`) or `"missing"`. @default "null" */
  readonly endOfList?: "null" | "empty" | "missing" | undefined;
  /** A `limit` below 1: `"clamp"` or `"refuse"`. @default "clamp" */
  readonly limitTooSmall?: "clamp" | "refuse" | undefined;
  /** A `limit` above 200: `"clamp"` or `"refuse"`. @default "clamp" */
  readonly limitTooLarge?: "clamp" | "refuse" | undefined;
  /** Names and form of the rate limit headers. */
  readonly rateLimitHeaders?: RateLimitHeaders | undefined;
  /** `Retry-After` of a 429: `"seconds"`, `"date"`, or `null` for none. @default "seconds" */
  readonly retryAfter?: "seconds" | "date" | null | undefined;
  /** CORS headers of every response. */
  readonly cors?: CorsConvention | undefined;
  /** The name of the header with the request id; `null` for none. @default "x-request-id" */
  readonly requestIdHeader?: string | null | undefined;
  /** Milliseconds by which the `Date` header is ahead of the emulator's clock. @default 0 */
  readonly clockOffsetMs?: number | undefined;
  /** Lifetime of a token whose creator names none, in days. @default 90 */
  readonly tokenLifetimeDays?: number | undefined;
  /** The largest accepted `expires_in_days`. @default 3650 */
  readonly maxTokenLifetimeDays?: number | undefined;
  /** The types that an issue may have; `null` for any string that is not empty. @default null */
  readonly issueTypes?: readonly string[] | null | undefined;
  /** The status of a new issue. @default "open" */
  readonly issueStatus?: string | undefined;
  /** The state of a new session. @default "running" */
  readonly sessionState?: string | undefined;
}
