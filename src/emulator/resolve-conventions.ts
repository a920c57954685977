import { arrayOf, either, oneOf, type Parsed, RECORD, type Shape, strings } from "../core/checks/validators.ts";
import { atCaller, check, integer, isHeader, TEXT, TEXTS } from "./checks.ts";
import {
  type Conventions,
  type CorsConvention,
  type ExtendedRecord,
  type Fields,
  type RateLimitHeaders,
  REFUSALS,
  type RefusalConvention,
  type RefusalReason,
} from "./conventions.ts";
import { ENDPOINTS, type OperationName } from "./endpoints.ts";

type Filled<Given> = { readonly [Key in keyof Given]-?: Exclude<Given[Key], undefined> };

type Section = "refusals" | "successStatus" | "extraFields" | "rateLimitHeaders" | "cors";

/** {@link Conventions} with every default filled in. */
export interface ResolvedConventions extends Filled<Omit<Conventions, Section>> {
  /** Status and code of each refusal. */
  readonly refusals: Readonly<Record<RefusalReason, Filled<RefusalConvention>>>;
  /** The status of success of each operation. */
  readonly successStatus: Readonly<Record<OperationName, number>>;
  /** Additional fields of each record. */
  readonly extraFields: Readonly<Record<ExtendedRecord, Fields>>;
  /** Names and form of the rate limit headers. */
  readonly rateLimitHeaders: Filled<RateLimitHeaders>;
  /** CORS headers of every response. */
  readonly cors: Filled<CorsConvention>;
}

const DEFAULTS: ResolvedConventions = {
  refusals: REFUSALS,
  successStatus: mapValues(ENDPOINTS, ({ success }) => success),
  extraFields: { project: {}, issue: {}, session: {}, token: {}, page: {}, error: {} },
  basePath: "/api/v1",
  contentType: "application/json; charset=utf-8",
  endOfList: "null",
  limitTooSmall: "clamp",
  limitTooLarge: "clamp",
  rateLimitHeaders: { limit: "RateLimit-Limit", remaining: "RateLimit-Remaining", form: "number" },
  retryAfter: "seconds",
  cors: {
    allowOrigin: "*",
    exposeHeaders: ["Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "x-request-id"],
  },
  requestIdHeader: "x-request-id",
  clockOffsetMs: 0,
  tokenLifetimeDays: 90,
  maxTokenLifetimeDays: 3650,
  issueTypes: null,
  issueStatus: "open",
  sessionState: "running",
};

const HEADER = strings("the name of a header", (value) => isHeader(value, "x"));
const HEADER_NAME = either(null, HEADER);
const HEADER_VALUE = either(
  null,
  strings("a header value", (value) => value !== "" && isHeader("x", value)),
);
const LIMIT = oneOf("clamp", "refuse");
const YEAR_MS = 366 * 24 * 60 * 60 * 1000;

const SHAPE = {
  refusals: RECORD,
  successStatus: RECORD,
  extraFields: RECORD,
  basePath: strings('a path that begins with "/" and does not end with one', isPath),
  contentType: strings("a content type", (value) => isHeader("x", value) && value.includes("/")),
  endOfList: oneOf("null", "empty", "missing"),
  limitTooSmall: LIMIT,
  limitTooLarge: LIMIT,
  rateLimitHeaders: RECORD,
  retryAfter: either(null, oneOf("seconds", "date")),
  cors: RECORD,
  requestIdHeader: HEADER_NAME,
  clockOffsetMs: integer(-YEAR_MS, YEAR_MS),
  tokenLifetimeDays: integer(1, 1_000_000),
  maxTokenLifetimeDays: integer(1, 1_000_000),
  issueTypes: either(null, TEXTS),
  issueStatus: TEXT,
  sessionState: TEXT,
} satisfies Shape<Conventions>;
const REASONS = mapValues(DEFAULTS.refusals, () => RECORD);
const SUCCESS_STATUS = mapValues(ENDPOINTS, () => integer(200, 299));
const EXTRA_FIELDS = mapValues(DEFAULTS.extraFields, () => RECORD);
const REFUSAL = { status: integer(400, 599), code: TEXT } satisfies Shape<RefusalConvention>;
const RATE_LIMIT_HEADERS = {
  limit: HEADER_NAME,
  remaining: HEADER_NAME,
  form: oneOf("number", "number_and_window"),
} satisfies Shape<RateLimitHeaders>;
const CORS = {
  allowOrigin: HEADER_VALUE,
  exposeHeaders: arrayOf(HEADER, "an array of header names"),
} satisfies Shape<CorsConvention>;

/**
 * Checks and copies conventions, and fills in the defaults.
 *
 * @throws `TypeError` for an unknown key, a wrong type or a value out of range; it names the place and what is accepted
 */
export function resolveConventions(conventions?: unknown): ResolvedConventions {
  const checked = atCaller(resolveConventions, () => check.options(conventions, "conventions", SHAPE));
  const given = JSON.parse(JSON.stringify(checked)) as typeof checked; // a copy, of plain JSON
  const { maxTokenLifetimeDays = DEFAULTS.maxTokenLifetimeDays } = given;
  const { tokenLifetimeDays = Math.min(DEFAULTS.tokenLifetimeDays, maxTokenLifetimeDays) } = given;
  check.value(tokenLifetimeDays, "conventions.tokenLifetimeDays", integer(1, maxTokenLifetimeDays));
  const refusals = options(given.refusals, "refusals", REASONS);
  return {
    ...DEFAULTS,
    ...given,
    refusals: mapValues(DEFAULTS.refusals, (fallback, reason) => ({
      ...fallback,
      ...options(refusals[reason], `refusals.${reason}`, REFUSAL),
    })),
    successStatus: { ...DEFAULTS.successStatus, ...options(given.successStatus, "successStatus", SUCCESS_STATUS) },
    extraFields: { ...DEFAULTS.extraFields, ...options(given.extraFields, "extraFields", EXTRA_FIELDS) },
    rateLimitHeaders: {
      ...DEFAULTS.rateLimitHeaders,
      ...options(given.rateLimitHeaders, "rateLimitHeaders", RATE_LIMIT_HEADERS),
    },
    cors: { ...DEFAULTS.cors, ...options(given.cors, "cors", CORS) },
    tokenLifetimeDays,
  };
}

function options<Fields extends Shape>(given: unknown, name: string, shape: Fields): Parsed<Fields> {
  return check.options(given, `conventions.${name}`, shape);
}

function mapValues<Key extends string, Value, Result>(
  record: Readonly<Record<Key, Value>>,
  map: (value: Value, key: Key) => Result,
): Record<Key, Result> {
  const entries = Object.entries<Value>(record).map(([key, value]) => [key, map(value, key as Key)]);
  return Object.fromEntries(entries) as Record<Key, Result>; // the keys are those of `record`
}

/** A path of one or more segments that need no percent-encoding. */
function isPath(value: string): boolean {
  return /^(?:\/[\w.~-]*[\w~-])+$/.test(value);
}
