import type { RetryOptions } from "../core/call/call-options.ts";
import type { EventListener, Logger } from "../core/events.ts";
import type { Instrumentation } from "../core/instrumentation.ts";
import type { RateLimiter } from "../core/rate-limit/rate-limiter.ts";
import type { RotatingToken } from "../core/token/rotating-token.ts";
import type { TokenProvider } from "../core/token/token-source.ts";
import type { HeadersInput } from "../core/wire/headers.ts";
import type { FetchFunction } from "../core/wire/http-request.ts";
import type { LogLevel } from "./logging.ts";

/**
 * Options of a client. The keys `baseUrl` and `token` may be left out where the environment has them. A key that is there
 * and `undefined` is a `ConfigError`: `{ token: process.env.OTHER_TOKEN }` never becomes another token.
 */
export interface ClientOptions {
  /**
   * The address of the service. It ends with the version segment: `https://automation.example.com/api/v1`.
   *
   * Path prefixes, ports and IPv6 addresses are kept, trailing slashes make no difference. A query, a fragment, a user name or
   * a password is refused.
   *
   * @default `PROJECT_AUTOMATION_BASE_URL` of the environment
   */
  baseUrl?: string | URL;
  /**
   * The API token, a function that returns it, or a `rotatingToken()`.
   *
   * The token of the environment goes only to the service that `PROJECT_AUTOMATION_BASE_URL` names: origin and base path. If
   * that is not set, it goes to `baseUrl`.
   *
   * @default `PROJECT_AUTOMATION_TOKEN` of the environment
   */
  token?: string | TokenProvider | RotatingToken;
  /**
   * The longest time of one attempt, in milliseconds. `false`: no limit.
   *
   * It covers the token provider, connecting, headers and body.
   *
   * @default 30_000
   */
  timeoutMs?: number | false | undefined;
  /**
   * The longest time of a whole call with its waits, in milliseconds. In a list it is for each page. `false`: no limit.
   *
   * @default false
   */
  totalTimeoutMs?: number | false | undefined;
  /**
   * Rules for retries. `false` sends one request, waits for no rate limit and renews no token.
   *
   * @default the defaults of `RetryOptions`
   */
  retry?: RetryOptions | false | undefined;
  /**
   * The most requests with one token in flight at once. Clients that share a `rateLimiter` count together.
   *
   * @default 10
   */
  maxConcurrency?: number | undefined;
  /**
   * Decides when requests leave. Clients with the same token share one `memoryRateLimiter()`.
   *
   * @default one for this client
   */
  rateLimiter?: RateLimiter | undefined;
  /** More headers of every request. `authorization`, `cookie`, `host` and those of the connection are refused. */
  headers?: HeadersInput | undefined;
  /**
   * Sends the requests in place of the global `fetch`, which the client looks up at each call.
   *
   * It is called with the URL as a string and an init that holds everything: `method`, `headers` as a plain object, `body` as
   * a string, `signal`, `redirect`. So a function that adds a header or logs the URL, or the `fetch` of another package, can
   * be passed. A call keeps the global `fetch` to its end, and a wait for all its polls. Each page of an iteration is a call.
   *
   * @default the global `fetch`
   */
  fetch?: FetchFunction | undefined;
  /**
   * More options of `fetch`: `dispatcher` (Node), `proxy` (Bun), `client` (Deno), `cf`, `next`, `cache`.
   *
   * `method`, `headers`, `body`, `signal`, `redirect` and `credentials` are the client's own and refused. A `fetch` ignores an
   * option that it does not know: a time limit is `timeoutMs`.
   *
   * `next`, `cache`, and members of `cf` that begin with `cache` go only with reads that you call yourself. Writes, and the
   * polls of `waitFor` and `watch`, go without them: no cache may answer a write, or keep a token. If `next` or `cache` is
   * there, these requests say `cache: "no-store"`.
   */
  fetchOptions?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Called with each event of a call. Events hold no secret.
   *
   * An error that it throws changes no call. The log says it, once for a client.
   */
  onEvent?: EventListener | undefined;
  /** Writes the log: `console`, winston and the like. */
  logger?: Logger | undefined;
  /**
   * The least important level that is logged.
   *
   * Without a `logger`, lines go to standard error. An unknown value of the variable is said there once, and counts as
   * `"warn"`.
   *
   * @default `PROJECT_AUTOMATION_LOG` of the environment, else `"warn"` with a `logger` and `"off"` without
   */
  logLevel?: LogLevel | undefined;
  /** Traces and measures calls: `instrument()` of `project-automation/opentelemetry`. */
  instrumentation?: Instrumentation | undefined;
  /**
   * `"strict"` rejects an unexpected response with `ResponseValidationError`. `"lenient"` returns it, with a `drift` event.
   *
   * @default "strict"
   */
  validation?: "strict" | "lenient" | undefined;
  /**
   * The largest body of a success, in bytes after decompression. A larger one is a `ResponseParseError`.
   *
   * @default 4_194_304
   */
  maxResponseBytes?: number | undefined;
  /**
   * Allows plain `http:` to another machine, where others may read the token.
   *
   * @default false
   */
  allowInsecureHttp?: boolean | undefined;
}
