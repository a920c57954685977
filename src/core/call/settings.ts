import { namesOf } from "../checks/hints.ts";
import {
  BOOLEAN,
  countFrom,
  DELAY,
  either,
  functions,
  mapped,
  type Parsed,
  parseOptions,
  RECORD,
  refuseReversed,
  type Shape,
  SIGNAL,
  TIMEOUT,
  typed,
} from "../checks/validators.ts";
import { isIterable, isObject, isPlainObject } from "../checks/values.ts";
import type { ClientEvent } from "../events.ts";
import type { CombinedInstrumentation, InnerInstrumentation, RunHook } from "../instrumentation.ts";
import type { RateLimiter } from "../rate-limit/rate-limiter.ts";
import type { TokenSource } from "../token/token-source.ts";
import { parseHeaders } from "../wire/headers.ts";
import type { FetchFunction, SendHttp } from "../wire/http-request.ts";
import { QUERY } from "../wire/query.ts";
import type { Service } from "../wire/service.ts";
import type { CallOptions, ExtraOptions, RetryOptions } from "./call-options.ts";

/** Retry options with every value in place, but for the delays: one that is given moves the default of the other. */
export type RetryRules = { readonly [Key in Exclude<keyof RetryOptions, Delay>]-?: NonNullable<RetryOptions[Key]> } & {
  readonly [Key in Delay]?: number;
};

type Delay = "minDelayMs" | "maxDelayMs";

export const DEFAULT_RETRY: RetryRules = {
  attempts: 3,
  rateLimitWaits: 5,
  maxRetryAfterMs: 120_000,
  unsafeWrites: false,
};

/** Options as they are read, with every default in place. A call has the settings of its client, and its own options replace them. */
export interface Settings extends Pick<ParsedCallOptions, "signal" | "extra" | "onRequest" | "onResponse"> {
  readonly timeoutMs: number;
  readonly totalTimeoutMs: number;
  /** `false`: one request, no wait for a pause, no renewal of the token. */
  readonly retry: RetryRules | false;
  readonly headers: Readonly<Record<string, string>>;
  readonly baseUrl: Service;
  readonly rateLimiter: RateLimiter;
  readonly maxConcurrency: number;
  readonly maxResponseBytes: number;
  readonly validation: "strict" | "lenient";
}

/** The parts of a client that the request path needs: its settings, which never change, and what is made from them. */
export interface Context extends Settings {
  readonly fetch?: FetchFunction | undefined;
  readonly http: SendHttp;
  /** The platform may send a `DELETE` again by itself. */
  readonly platformMayRepeat: boolean;
  readonly tokenSource: TokenSource;
  readonly observers: CombinedInstrumentation | undefined;
  readonly runHook: RunHook;
  /** Writes a line to its log that is about no single call. */
  readonly say: ((level: "info" | "warn", text: string) => void) | undefined;
  /** The instrumentation of another part of the package that derived the client. */
  readonly inner?: InnerInstrumentation | undefined;
  readonly emittedOnce: {
    /** Tokens of which a `rate_limit_pause` was emitted, and no `rate_limit_resume` since; by which attempt, and until when. */
    readonly paused: Map<string, { readonly about: AttemptId; readonly until: number }>;
    /** The moment of the latest `queue_wait`. */
    queueWaitAt: number;
  };
}

/** The fields by which events name an attempt of a call. */
export type AttemptId = Pick<ClientEvent, "callId" | "operation" | "attempt">;

const RETRY = {
  attempts: countFrom(1),
  minDelayMs: DELAY,
  maxDelayMs: DELAY,
  rateLimitWaits: countFrom(0),
  maxRetryAfterMs: DELAY,
  unsafeWrites: BOOLEAN,
} satisfies Shape<RetryOptions>;

export const SHARED_OPTIONS = {
  timeoutMs: TIMEOUT,
  totalTimeoutMs: TIMEOUT,
  retry: either(
    false,
    mapped(typed("an object such as { attempts: 3 }", isObject), (retry) => parseOptions(retry, "retry", RETRY)),
  ),
  headers: mapped(
    typed("a HeadersInit", (value): value is object => isPlainObject(value) || isIterable(value)),
    parseHeaders,
  ),
} satisfies Shape<Pick<CallOptions, "timeoutMs" | "totalTimeoutMs" | "retry" | "headers">>;

const EXTRA = {
  query: QUERY,
  json: typed("a plain object of members", isPlainObject),
} satisfies Shape<ExtraOptions>;

const CALL_OPTIONS = namesOf("call", {
  signal: SIGNAL,
  ...SHARED_OPTIONS,
  extra: mapped(RECORD, (extra) => parseOptions(extra, "options.extra", EXTRA)),
  onRequest: functions<NonNullable<CallOptions["onRequest"]>>(),
  onResponse: functions<NonNullable<CallOptions["onResponse"]>>(),
} satisfies Shape<CallOptions>);

export type ParsedCallOptions = Parsed<typeof CALL_OPTIONS>;

const NO_OPTIONS: ParsedCallOptions = {};

/** Parses and copies the options of a call, so that later changes have no effect. */
export function parseCallOptions(options: unknown): ParsedCallOptions;
/** The same for a method that takes options of its `own` beside. */
export function parseCallOptions<Own extends Shape>(options: unknown, own: Own): ParsedCallOptions & Parsed<Own>;
export function parseCallOptions(options: unknown, own?: Shape): ParsedCallOptions {
  if (options === undefined && own === undefined) return NO_OPTIONS;
  return parseOptions(options, "options", { ...CALL_OPTIONS, ...own });
}

/** The settings of `base` with `options` laid over them; `retry` and `headers` are put together one by one. */
export function mergeSettings<All extends Pick<Settings, "retry" | "headers">>(
  options: Partial<Omit<All, "retry">> & Pick<ParsedCallOptions, "retry">,
  base: All,
): All {
  if (options === NO_OPTIONS) return base;
  const merged = { ...base, ...options };
  const retry = merged.retry && { ...(base.retry || DEFAULT_RETRY), ...merged.retry };
  if (retry) refuseReversed([retry.minDelayMs, retry.maxDelayMs], ["retry.minDelayMs", "retry.maxDelayMs"]);
  return { ...merged, retry, headers: { ...base.headers, ...options.headers } };
}
