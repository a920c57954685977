import type { RotatingToken } from "./auth/rotating-token.ts";
import { flawOfToken } from "./auth/token-format.ts";
import type { TokenProvider, TokenSourceFactory } from "./auth/token-source.ts";
import { ANYTHING, BOOLEAN, countFrom, FUNCTION, oneOf, type Shape, withMethods } from "./check.ts";
import { describeType } from "./describe-type.ts";
import { ConfigError } from "./errors/client-errors.ts";
import type { EventListener, Logger } from "./events.ts";
import type { Instrumentation } from "./instrumentation.ts";
import type { RateLimiter } from "./rate-limit/rate-limiter.ts";
import {
  type CallSettings,
  DEFAULT_RETRY,
  type HeadersInput,
  type RetryOptions,
  SettingsCheck,
  SHARED_OPTIONS,
} from "./request/settings.ts";

/** What a client is made with. Everything may be left out where the environment says it. */
export interface ClientOptions {
  /**
   * Where the service is: http(s), absolute, ending with the version segment, such as
   * `https://automation.example.com/api/v1`. Default: `PROJECT_AUTOMATION_BASE_URL`, where there is a process.
   */
  baseUrl?: string | URL | undefined;
  /**
   * The API token, a function that gives it, or a `rotatingToken()`. Default: `PROJECT_AUTOMATION_TOKEN`, where there is
   * a process.
   */
  token?: string | TokenProvider | RotatingToken | undefined;
  /** Deadline of one attempt in milliseconds: token provider, connect, headers and body. Default 30 000; `false`: none. */
  timeoutMs?: number | false | undefined;
  /** Deadline of a whole call in milliseconds: queueing, waits, every attempt. In a walk, per page. Default `false`: none. */
  totalTimeoutMs?: number | false | undefined;
  /** How calls are sent again; `false`: never. */
  retry?: RetryOptions | false | undefined;
  /** Requests in flight at once through this client's rate limiter. Default 10. */
  maxConcurrency?: number | undefined;
  /** Pass one to several clients that share a token. Default: one of the client's own. */
  rateLimiter?: RateLimiter | undefined;
  /** Sent with every request. `authorization`, `cookie` and `host` are refused. */
  headers?: HeadersInput | undefined;
  /** Instead of the global `fetch`. It is given a `Request`, and an init that holds the signal: pass both on. */
  fetch?: typeof fetch | undefined;
  /** Sees what happens, without headers, bodies or secrets. What it throws is ignored. */
  onEvent?: EventListener | undefined;
  /** `console`, pino, winston and the like: is given what happens as lines of text. */
  logger?: Logger | undefined;
  /** Follows calls from beginning to end, for traces and metrics; `project-automation/opentelemetry` has one. */
  instrumentation?: Instrumentation | undefined;
  /** `"lenient"` hands over answers of an unexpected shape, with a `drift` event. Default `"strict"`. */
  validation?: "strict" | "lenient" | undefined;
  /** Allows a token over plain `http:` to a host other than this machine. Default `false`. */
  allowInsecureHttp?: boolean | undefined;
}

/** What a client goes by: its options, checked, over those of the client it is made from or the defaults. */
export interface Settings extends CallSettings {
  readonly baseUrl: URL | undefined;
  readonly token: string | TokenProvider | TokenSourceFactory | undefined;
  readonly maxConcurrency: number;
  readonly rateLimiter: RateLimiter | undefined;
  readonly fetch: typeof fetch | undefined;
  readonly onEvent: EventListener | undefined;
  readonly logger: Logger | undefined;
  readonly instrumentation: Instrumentation | undefined;
  readonly validation: "strict" | "lenient";
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
  onEvent: undefined,
  logger: undefined,
  instrumentation: undefined,
  validation: "strict",
  allowInsecureHttp: false,
};

const CLIENT_OPTIONS: Shape<ClientOptions> = {
  ...SHARED_OPTIONS,
  baseUrl: ANYTHING,
  token: ANYTHING,
  maxConcurrency: countFrom(1),
  rateLimiter: withMethods("a RateLimiter", "enter", "refresh", "snapshot"),
  fetch: FUNCTION,
  onEvent: FUNCTION,
  logger: withMethods("a logger", "debug", "info", "warn", "error"),
  instrumentation: withMethods("an instrumentation", "begin"),
  validation: oneOf("strict", "lenient"),
  allowInsecureHttp: BOOLEAN,
};

const check: SettingsCheck = new SettingsCheck(ConfigError);

/** Throws `ConfigError`. */
export function refuseOption(message: string): never {
  return check.fail(message);
}

/** Checks every option; throws `ConfigError` for the first that cannot be. What it gives is no part of `options`. */
export function checkOptions(options: ClientOptions, base: Settings = DEFAULTS): Settings {
  return check.guarded(() => {
    const given = check.options(options, "options", CLIENT_OPTIONS);
    return {
      ...base,
      ...given,
      ...check.over(given, base),
      baseUrl: given.baseUrl === undefined ? base.baseUrl : checkBaseUrl(given.baseUrl),
      token: given.token === undefined ? base.token : checkToken(given.token),
    };
  });
}

/** A token or what gives it; anything else is told without being shown. */
export function checkToken(token: unknown): string | TokenProvider | TokenSourceFactory {
  if (isCredentialSource(token)) return token;
  if (typeof token === "function") return token as TokenProvider; // what it gives is checked when it gives it
  const flaw = flawOfToken(token);
  return flaw === undefined ? (token as string) : check.fail(`token ${flaw}`); // flawless tokens are strings
}

function isCredentialSource(token: unknown): token is TokenSourceFactory {
  return typeof token === "object" && withMethods("a source", "toCredential").accepts(token);
}

/** A token may travel in clear only within this machine, or where that is wanted. */
export function checkTransport(baseUrl: URL, allowInsecureHttp: boolean): void {
  if (baseUrl.protocol === "https:" || allowInsecureHttp || isLoopback(baseUrl.hostname)) return;
  check.fail(
    "baseUrl is plain http: to another machine, where others can read the token; use https:, or allowInsecureHttp",
  );
}

/** An option that must be, if not among the options then in the environment. */
export function required<Value>(value: Value | undefined, name: string, variable: string): Value | string {
  const found = value ?? fromEnvironment(variable);
  return found ?? refuseOption(`${name} is missing: pass it, or set ${variable} in the environment`);
}

function fromEnvironment(name: string): string | undefined {
  const scope = globalThis as { process?: { env?: Record<string, string | undefined> } }; // not every runtime has one
  try {
    return scope.process?.env?.[name] || undefined;
  } catch {
    // Deno asks for a permission, and throws when it is denied.
    return undefined;
  }
}

const UNWANTED_IN_BASE_URL: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/[\u0000-\u0020\u007f\\]/, "white space, control characters or backslashes"],
  [/^\w+:\/\/[^/?#]*@/, "a user name or password"],
  [/[?#]/, "a query or a fragment"],
];

/** An absolute http(s) URL that paths can be appended to. */
export function checkBaseUrl(value: unknown): URL {
  const text = value instanceof URL ? value.href : value;
  if (typeof text !== "string") return check.fail(`baseUrl must be a string or a URL, not ${describeType(value)}`);
  const flaw = UNWANTED_IN_BASE_URL.find(([pattern]) => pattern.test(text));
  if (flaw !== undefined) check.fail(`baseUrl must not contain ${flaw[1]}`);
  const url = /^https?:\/\//i.test(text) ? parseUrl(text) : undefined;
  return (
    url ?? check.fail("baseUrl must be an absolute http: or https: URL, such as https://automation.example.com/api/v1")
  );
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function isLoopback(hostname: string): boolean {
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  );
}
