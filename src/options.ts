import type { RotatingToken } from "./auth/rotating-token.ts";
import { flawOfToken } from "./auth/token-format.ts";
import type { TokenProvider, TokenSourceFactory } from "./auth/token-source.ts";
import { checkBaseUrl } from "./base-url.ts";
import { ANYTHING, BOOLEAN, countFrom, FUNCTION, kind, oneOf, type Shape, withMethods } from "./check.ts";
import { ConfigError } from "./errors/client-errors.ts";
import type { EventListener, Logger } from "./events.ts";
import type { Instrumentation } from "./instrumentation.ts";
import { LOG_LEVELS, type LogLevel } from "./logging.ts";
import type { RateLimiter } from "./rate-limit/rate-limiter.ts";
import type { FetchFunction } from "./request/http-request.ts";
import { DEFAULT_MAX_RESPONSE_BYTES } from "./request/json.ts";
import {
  type CallSettings,
  DEFAULT_RETRY,
  type HeadersInput,
  type RetryOptions,
  SettingsCheck,
  SHARED_OPTIONS,
} from "./request/settings.ts";

/** The options of a client. `baseUrl` and `token` may be left out where the environment has them. */
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
  /** How calls are retried. `false`: one request, no wait for a rate limit, no renewal of the token. */
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
  /** Extra headers of every request. `authorization`, `cookie` and `host` are refused. */
  headers?: HeadersInput | undefined;
  /**
   * Sends the requests. It is called with the URL as a string and an init that holds everything: `method`, `headers` as a
   * plain object, `body` as a string, `signal`, `redirect`. So a function that adds a header or logs the URL, or the
   * `fetch` of another package, can stand here.
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
  /** Called with each event, which holds no header, body or secret. What it throws or rejects with is ignored. */
  onEvent?: EventListener | undefined;
  /** `console`, winston and the like: called with a line and a record of its fields. */
  logger?: Logger | undefined;
  /**
   * The least important level that is logged. If the environment variable is set and there is no `logger`, lines go to
   * standard error.
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

/** The checked options of a client, over those of the client it is derived from or the defaults. */
export interface Settings extends CallSettings {
  readonly baseUrl: URL | undefined;
  readonly token: string | TokenProvider | TokenSourceFactory | undefined;
  readonly maxConcurrency: number;
  readonly rateLimiter: RateLimiter | undefined;
  readonly fetch: FetchFunction | undefined;
  readonly fetchOptions: Readonly<Record<string, unknown>>;
  readonly onEvent: EventListener | undefined;
  readonly logger: Logger | undefined;
  readonly logLevel: LogLevel | undefined;
  readonly instrumentation: Instrumentation | undefined;
  readonly validation: "strict" | "lenient";
  readonly maxResponseBytes: number;
  readonly allowInsecureHttp: boolean;
}

const DEFAULTS: Settings = {
  timeoutMs: 30_000,
  totalTimeoutMs: Number.POSITIVE_INFINITY,
  retry: DEFAULT_RETRY,
  headers: { accept: "application/json" },
  baseUrl: undefined,
  token: undefined,
  maxConcurrency: 10,
  rateLimiter: undefined,
  fetch: undefined,
  fetchOptions: {},
  onEvent: undefined,
  logger: undefined,
  logLevel: undefined,
  instrumentation: undefined,
  validation: "strict",
  maxResponseBytes: DEFAULT_MAX_RESPONSE_BYTES,
  allowInsecureHttp: false,
};

const CLIENT_OPTIONS: Shape<ClientOptions> = {
  ...SHARED_OPTIONS,
  baseUrl: ANYTHING,
  token: ANYTHING,
  maxConcurrency: countFrom(1),
  rateLimiter: withMethods("a RateLimiter", "enter", "refresh", "snapshot"),
  fetch: FUNCTION,
  fetchOptions: kind("an object", (value) => typeof value === "object" && value !== null && !Array.isArray(value)),
  onEvent: FUNCTION,
  logger: withMethods("a logger", "debug", "info", "warn", "error"),
  logLevel: oneOf(...LOG_LEVELS),
  instrumentation: withMethods("an instrumentation", "begin"),
  validation: oneOf("strict", "lenient"),
  maxResponseBytes: countFrom(1),
  allowInsecureHttp: BOOLEAN,
};

/** Options of `fetch` that the client sets itself. */
const CLIENTS_OWN_FETCH_OPTIONS = ["method", "headers", "body", "signal", "redirect", "credentials"];

const check: SettingsCheck = new SettingsCheck(ConfigError);

/** @throws `ConfigError` */
export function refuseOption(message: string): never {
  return check.fail(message);
}

/**
 * Checks every option, and copies it, so that later changes of `options` have no effect.
 *
 * @throws `ConfigError` for the first invalid option
 */
export function checkOptions(options: ClientOptions, base: Settings = DEFAULTS): Settings {
  return check.guarded(() => {
    const given = check.options(options, "options", CLIENT_OPTIONS);
    return {
      ...base,
      ...given,
      ...check.over(given, base),
      baseUrl: given.baseUrl === undefined ? base.baseUrl : checkBaseUrl(given.baseUrl),
      token: given.token === undefined ? base.token : checkToken(given.token),
      fetchOptions: given.fetchOptions === undefined ? base.fetchOptions : checkFetchOptions(given.fetchOptions),
    };
  });
}

/** A token or its source; the message for anything else does not show it. */
export function checkToken(token: unknown): string | TokenProvider | TokenSourceFactory {
  if (isTokenSourceFactory(token)) return token;
  if (typeof token === "function") return token as TokenProvider; // what it returns is checked when it returns it
  const flaw = flawOfToken(token);
  return flaw === undefined ? (token as string) : check.fail(`token ${flaw}`); // flawless tokens are strings
}

function isTokenSourceFactory(token: unknown): token is TokenSourceFactory {
  return typeof token === "object" && withMethods("a source", "toCredential").accepts(token);
}

function checkFetchOptions(options: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const own = CLIENTS_OWN_FETCH_OPTIONS.find((name) => Object.hasOwn(options, name));
  if (own !== undefined) check.fail(`fetchOptions must not set ${own}; the client owns it`);
  return { ...options };
}

/** An option that is required, from the options or the environment. */
export function required<Value>(value: Value | undefined, name: string, variable: string): Value | string {
  const found = value ?? fromEnvironment(variable);
  return found ?? refuseOption(`${name} is missing: pass it, or set ${variable} in the environment`);
}

/** The value of an environment variable, where there is a process that has it. */
export function fromEnvironment(name: string): string | undefined {
  const scope = globalThis as { process?: { env?: Record<string, string | undefined> } }; // not every runtime has one
  try {
    return scope.process?.env?.[name] || undefined;
  } catch {
    // Deno asks for a permission, and throws when it is denied.
    return undefined;
  }
}
