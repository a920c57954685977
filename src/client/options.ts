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
   * The address of the service: http(s), absolute, ending with the version segment, such as
   * `https://automation.example.com/api/v1`. Path prefixes, ports and IPv6 addresses are kept, trailing slashes make no
   * difference; a query, a fragment, a user name or a password is refused.
   *
   * @default the environment variable `PROJECT_AUTOMATION_BASE_URL`, where there is a process
   */
  baseUrl?: string | URL;
  /**
   * The API token, a function that returns it, or a `rotatingToken()`.
   *
   * @default the environment variable `PROJECT_AUTOMATION_TOKEN`, where there is a process. This token goes only to the
   * service that `PROJECT_AUTOMATION_BASE_URL` names: origin and base path. If that is not set, it goes to `baseUrl`.
   */
  token?: string | TokenProvider | RotatingToken;
  /**
   * Time limit of one attempt in milliseconds: token provider, connecting, headers and body together. `false`: none.
   *
   * @default 30_000
   */
  timeoutMs?: number | false | undefined;
  /**
   * Time limit of a whole call in milliseconds: queueing, waits and every attempt. In an iteration, per page. `false`: none.
   *
   * @default false
   */
  totalTimeoutMs?: number | false | undefined;
  /** Rules for retries. `false`: one request, no wait for a rate limit, no renewal of the token. */
  retry?: RetryOptions | false | undefined;
  /**
   * Requests in flight at once, per token, through this client's rate limiter: a call waits until fewer are.
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
   * @default the global `fetch` as it is when a method is called: the call keeps it to its end, and a wait for all its
   * polls. Each page of an iteration is a call.
   */
  fetch?: FetchFunction | undefined;
  /**
   * Further options of `fetch`, handed over as they are: `dispatcher` (Node), `proxy` (Bun), `client` (Deno), `cf`,
   * `next`, `cache`, `keepalive` and the like. `method`, `headers`, `body`, `signal`, `redirect` and `credentials` are
   * the client's own and refused. A `fetch` ignores an option that it does not know: a time limit is `timeoutMs`.
   *
   * `next`, `cache`, and members of `cf` that begin with `cache` go only with reads that you call yourself. Writes, and the
   * polls of `waitFor` and `watch`, go without them: no cache may answer a write, or keep a token. If `next` or `cache` is
   * there, these requests say `cache: "no-store"`.
   */
  fetchOptions?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Called with each event, which holds no secret and nothing of a request. What it throws changes no call; the log says it,
   * once for a client.
   */
  onEvent?: EventListener | undefined;
  /** `console`, winston and the like: called with a line, which begins with the call's id, and a record of its fields. */
  logger?: Logger | undefined;
  /**
   * The least important level that is logged. If the environment variable is set and there is no `logger`, lines go to
   * standard error; if it is not set either, there are none. An unknown value of the variable is said there once, and
   * counts as `"warn"`.
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
