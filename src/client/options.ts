import { checkBaseUrl } from "./call/base-url.ts";
import type { RetryOptions } from "./call/call-options.ts";
import type { FetchFunction } from "./call/http-request.ts";
import {
  type CheckedOptions,
  type ClientSettings,
  DEFAULT_RETRY,
  mergeSettings,
  SHARED_OPTIONS,
} from "./call/settings.ts";
import type { HeadersInput } from "./checks/headers.ts";
import { ignoreErrors } from "./checks/ignore-errors.ts";
import { expectNoSurplus, invalid } from "./checks/invalid-input.ts";
import { parseOptions } from "./checks/parse-options.ts";
import {
  ANYTHING,
  BOOLEAN,
  countFrom,
  FUNCTION,
  type ObjectSchema,
  oneOf,
  type Validator,
  validator,
  withMethods,
} from "./checks/validators.ts";
import { hasMethods, isPlainObject } from "./checks/values.ts";
import { fromEnvironment, refuseMissing, VARIABLES } from "./environment.ts";
import { asErrorClass } from "./errors/as-error-class.ts";
import { ConfigError } from "./errors/classes.ts";
import type { EventListener, Logger } from "./events.ts";
import type { Instrumentation } from "./instrumentation.ts";
import { LOG_LEVEL, type LogLevel, levelOfEnvironment } from "./logging.ts";
import { guardRateLimiter } from "./rate-limit/guarded-rate-limiter.ts";
import { memoryRateLimiter } from "./rate-limit/memory-rate-limiter.ts";
import type { RateLimiter } from "./rate-limit/rate-limiter.ts";
import { Redactor } from "./secrets/redact.ts";
import { ProviderToken } from "./token/provider-token.ts";
import type { RotatingToken } from "./token/rotating-token.ts";
import { StaticToken } from "./token/static-token.ts";
import { flawOfToken } from "./token/token-format.ts";
import type { TokenProvider, TokenSourceFactory } from "./token/token-source.ts";

/** Options of a client. `baseUrl` and `token` may be left out where the environment has them. */
export interface ClientOptions {
  /**
   * The address of the service: http(s), absolute, ending with the version segment, such as
   * `https://automation.example.com/api/v1`. Path prefixes, ports and IPv6 addresses are kept, trailing slashes make no
   * difference; a query, a fragment, a user name or a password is refused.
   *
   * @default the environment variable `PROJECT_AUTOMATION_BASE_URL`, where there is a process
   */
  baseUrl?: string | URL | undefined;
  /**
   * The API token, a function that returns it, or a `rotatingToken()`.
   *
   * @default the environment variable `PROJECT_AUTOMATION_TOKEN`, where there is a process
   */
  token?: string | TokenProvider | RotatingToken | undefined;
  /**
   * Time limit of one attempt in milliseconds: token provider, connecting, headers and body together. `false`: none.
   *
   * @default 30_000
   */
  timeoutMs?: number | false | undefined;
  /**
   * Time limit of a whole call in milliseconds: queueing, waits and every attempt. In a walk, per page. `false`: none.
   *
   * @default false
   */
  totalTimeoutMs?: number | false | undefined;
  /** Rules for retries. `false`: one request, no wait for a rate limit, no renewal of the token. */
  retry?: RetryOptions | false | undefined;
  /**
   * Requests in flight at once, per token, through this client's rate limiter. Where clients that share a rate limiter
   * differ, the smallest counts.
   *
   * @default 10
   */
  maxConcurrency?: number | undefined;
  /**
   * Decides when requests are sent. Pass one `memoryRateLimiter()` to several clients that share a token.
   *
   * @default a `memoryRateLimiter()` of the client's own
   */
  rateLimiter?: RateLimiter | undefined;
  /** Extra headers of every request. `authorization`, `cookie`, `host` and the headers of the connection are refused. */
  headers?: HeadersInput | undefined;
  /**
   * Sends the requests. It is called with the URL as a string and an init that holds everything: `method`, `headers` as a
   * plain object, `body` as a string, `signal`, `redirect`. So a function that adds a header or logs the URL, or the
   * `fetch` of another package, can be passed.
   *
   * @default the global `fetch` at the time of each request
   */
  fetch?: FetchFunction | undefined;
  /**
   * Further options of `fetch`, handed over as they are: `dispatcher` (Node), `proxy` (Bun), `client` (Deno), `cf`,
   * `next`, `cache`, `keepalive` and the like. `method`, `headers`, `body`, `signal`, `redirect` and `credentials` are
   * the client's own and refused.
   */
  fetchOptions?: Readonly<Record<string, unknown>> | undefined;
  /** Called with each event, which holds no secret and nothing of a request. Errors in it are ignored. */
  onEvent?: EventListener | undefined;
  /** `console`, winston and the like: called with a line and a record of its fields. */
  logger?: Logger | undefined;
  /**
   * The least important level that is logged. If the environment variable is set and there is no `logger`, lines go to
   * standard error. An unknown value of the variable is said there once, and counts as `"warn"`.
   *
   * @default the environment variable `PROJECT_AUTOMATION_LOG`, else `"warn"` with a `logger` and `"off"` without
   */
  logLevel?: LogLevel | undefined;
  /** Follows calls from beginning to end, for traces and metrics; `project-automation/opentelemetry` has one. */
  instrumentation?: Instrumentation | undefined;
  /**
   * `"lenient"` returns responses of an unexpected shape as they are, with a `drift` event; `"strict"` rejects with
   * `ResponseValidationError`.
   *
   * @default "strict"
   */
  validation?: "strict" | "lenient" | undefined;
  /**
   * The largest body of a successful response, in bytes after decompression. A larger one rejects with
   * `ResponseParseError`.
   *
   * @default 4_194_304
   */
  maxResponseBytes?: number | undefined;
  /**
   * Allows a token over plain `http:` to a host other than this machine.
   *
   * @default false
   */
  allowInsecureHttp?: boolean | undefined;
}

/** No client: that has a `baseUrl`, as options have, and would pass for them. */
export interface NoClient {
  /** A member of clients, which options do not have. */
  readonly projects?: never;
}

/** All settings of a client: its checked options, with every default in place. */
export interface Settings extends ClientSettings, Readonly<Omit<ClientOptions, keyof ClientSettings | "token">> {
  readonly token: TokenSourceFactory;
}

const DEFAULTS: Omit<ClientSettings, "baseUrl" | "rateLimiter"> = {
  timeoutMs: 30_000,
  totalTimeoutMs: Number.POSITIVE_INFINITY,
  retry: DEFAULT_RETRY,
  headers: { accept: "application/json" },
  maxConcurrency: 10,
  validation: "strict",
  maxResponseBytes: 4 * 1024 * 1024,
};

const RATE_LIMITER: Validator = {
  ...withMethods("a RateLimiter", "enter", "snapshot"),
  read: guardRateLimiter,
  hint: (value) =>
    hasMethods(value, "eval") ? ": pass redisRateLimiter({ client }) of project-automation/redis" : undefined,
};

const CLIENT_OPTIONS: ObjectSchema<ClientOptions> = {
  baseUrl: { ...ANYTHING, read: checkBaseUrl },
  token: { ...ANYTHING, read: readToken },
  ...SHARED_OPTIONS,
  maxConcurrency: countFrom(1),
  rateLimiter: RATE_LIMITER,
  fetch: FUNCTION,
  fetchOptions: validator("a plain object", isPlainObject, checkFetchOptions),
  onEvent: FUNCTION,
  logger: withMethods("a logger", "debug", "info", "warn", "error"),
  logLevel: LOG_LEVEL,
  instrumentation: withMethods("an instrumentation", "begin"),
  validation: oneOf("strict", "lenient"),
  maxResponseBytes: countFrom(1),
  allowInsecureHttp: BOOLEAN,
};

/**
 * Checks and copies every option, so that later changes of `options` have no effect. Missing options come from `parent`, the
 * client that this one is derived from, then from the environment, then from the defaults. `args`: the arguments of the method.
 */
export function settingsOf(args: readonly [options?: ClientOptions], parent?: Settings): Settings {
  const [options, ...surplus] = args;
  const own = parseOptions<ClientOptions>(options, "options", CLIENT_OPTIONS) as CheckedOptions<Settings>; // each validator has read its field
  expectNoSurplus(surplus);
  const base = parent ?? {
    ...DEFAULTS,
    ...addressOf(own),
    rateLimiter: own.rateLimiter ?? memoryRateLimiter(),
    logLevel: own.logLevel ?? levelOfEnvironment(fromEnvironment("PROJECT_AUTOMATION_LOG")),
  };
  return mergeSettings<Settings>(own, base);
}

/** The factory of a client's token source, by the kind of its `token`. */
function readToken(token: unknown): TokenSourceFactory {
  // What a provider returns is checked when it returns it.
  if (typeof token === "function") return { createSource: () => new ProviderToken(token as TokenProvider) };
  if (hasMethods(token, "createSource")) return token as TokenSourceFactory; // it has its method
  const text = checkStaticToken(token);
  return { createSource: () => new StaticToken(text) };
}

/** A token; the message for anything else does not show it. */
export function checkStaticToken(token: unknown): string {
  const flaw = flawOfToken(token);
  return flaw === undefined ? (token as string) : invalid(`token ${flaw}`); // one without a flaw is a string
}

function checkFetchOptions(options: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  for (const own of ["method", "headers", "body", "signal", "redirect", "credentials"]) {
    if (Object.hasOwn(options, own)) invalid(`fetchOptions must not set ${own}; the client owns it`);
  }
  return { ...options };
}

/** Address and token of a client, from its options or the environment. All that is missing is named at once. */
function addressOf(own: CheckedOptions<Settings>): Pick<Settings, "baseUrl" | "token"> {
  const baseUrl = own.baseUrl ?? fromEnvironment(VARIABLES.baseUrl);
  const token = own.token ?? fromEnvironment(VARIABLES.token);
  if (baseUrl === undefined || token === undefined) refuseMissing({ baseUrl, token });
  // Of the options they were checked before.
  return { baseUrl: own.baseUrl ?? checkBaseUrl(baseUrl), token: own.token ?? readToken(token) };
}

/** The boundary of all options: what is refused becomes a `ConfigError`, which does not show the token. */
export function configuring<Result>(options: unknown, read: () => Result): Result {
  return asErrorClass(ConfigError, read, (flaw) => {
    const own = ignoreErrors(() => (options as { token?: unknown }).token); // it may be anything, which is filtered
    const known = [own, fromEnvironment("PROJECT_AUTOMATION_TOKEN")];
    return new Redactor({ tokens: known.filter((token) => typeof token === "string") }).text(flaw);
  });
}
