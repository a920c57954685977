import { adoptReplacement } from "./auth/adopt.ts";
import { ProviderToken } from "./auth/provider-token.ts";
import { StaticToken } from "./auth/static-token.ts";
import { flawOfToken } from "./auth/token-format.ts";
import type { Rotate, TokenSource } from "./auth/token-source.ts";
import { checkBaseUrl, checkTransport } from "./base-url.ts";
import { combine, type Instrumentation } from "./instrumentation.ts";
import { LOG_LEVELS, type LogLevel, logCalls, standardErrorLogger } from "./logging.ts";
import type { CreatedToken } from "./models.ts";
import {
  type ClientOptions,
  checkOptions,
  checkToken,
  fromEnvironment,
  refuseOption,
  required,
  type Settings,
} from "./options.ts";
import type { Paginator } from "./paging/paginator.ts";
import { memoryRateLimiter } from "./rate-limit/memory-rate-limiter.ts";
import type { RateLimitSnapshot } from "./rate-limit/rate-limiter.ts";
import type { Pipeline } from "./request/call.ts";
import { createHttp } from "./request/http.ts";
import type { CallOptions, Send } from "./request/operation.ts";
import { createSend } from "./request/send.ts";
import {
  type CustomList,
  type CustomRequest,
  paginateCustom,
  type SendCustom,
  sendCustom,
} from "./resources/custom.ts";
import { Issues } from "./resources/issues.ts";
import type { ListOptions } from "./resources/list.ts";
import { Projects } from "./resources/projects.ts";
import { Sessions } from "./resources/sessions.ts";
import { rotateToken, Tokens } from "./resources/tokens.ts";

/** What a client is made of, and what another can be derived from. */
interface Parts {
  readonly settings: Omit<Settings, "token"> & { readonly baseUrl: URL };
  readonly pipeline: Pipeline;
}

/** How `withOptions` hands finished parts to the public constructor. */
class Derived {
  readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }
}

/**
 * A client of the project automation service. It waits when the service asks it to, never repeats a write that may have
 * been applied, and rejects with one family of typed errors. Clients share no state unless a rate limiter or a token
 * source is passed to several. An idle client has no timer.
 *
 * @throws `ConfigError` if an option is invalid; nothing is sent
 *
 * @example
 * const client = new Client({ baseUrl: "https://automation.example.com/api/v1", token });
 * for await (const project of client.projects.list()) console.log(project.name);
 */
export class Client {
  /** API tokens: create, rotate, revoke. */
  readonly tokens: Tokens;
  /** Projects: list. */
  readonly projects: Projects;
  /** Issues: create. */
  readonly issues: Issues;
  /** Agent sessions: list, get, wait for a state, watch changes of state. */
  readonly sessions: Sessions;
  readonly #parts: Parts;
  readonly #send: Send;

  constructor(options: ClientOptions = {}) {
    this.#parts = options instanceof Derived ? options.parts : partsOf(options);
    const { pipeline } = this.#parts;
    this.#send = createSend(pipeline);
    this.tokens = new Tokens(this.#send, (rotate) => adoptReplacement(pipeline.tokenSource, rotate));
    this.projects = new Projects(this.#send);
    this.issues = new Issues(this.#send);
    this.sessions = new Sessions(this.#send, pipeline.totalTimeoutMs);
  }

  /** The latest that is known of the token's rate limit; `undefined` before the first response to this token. */
  get rateLimit(): RateLimitSnapshot | undefined {
    const { rateLimiter, tokenSource } = this.#parts.pipeline;
    return rateLimiter.snapshot(tokenSource.current);
  }

  /**
   * Returns a client with some options changed. It shares the token source and the rate limiter of this one, also when
   * the token is swapped later. With a `token` of its own it has its own token source; a `rateLimiter` that was passed to
   * this client stays shared, since rate limiters keep tokens apart. A `baseUrl` of another origin needs a `token` of its
   * own, because this client's would travel there.
   *
   * @throws `ConfigError` if an option is invalid
   *
   * @example
   * const patient = client.withOptions({ totalTimeoutMs: 600_000 });
   */
  withOptions = (options: ClientOptions): Client => deriveClient(this.#parts, options);

  /**
   * Swaps the token: attempts sent from now on carry the new one, also those of pending calls and of clients made by
   * `withOptions`.
   *
   * @throws `ConfigError` if the token is invalid, or if a token provider or a rotating token decides the token
   */
  setToken = (token: string): void => {
    const { tokenSource } = this.#parts.pipeline;
    if (!(tokenSource instanceof StaticToken)) {
      refuseOption("setToken: the token provider or the rotating token of this client decides the token");
    }
    const flaw = flawOfToken(token);
    if (flaw !== undefined) refuseOption(`setToken: token ${flaw}`);
    tokenSource.set(token);
  };

  /**
   * Sends a request to an endpoint that has no method of its own, with the same authentication, rate limiter, retries,
   * path safety, errors and validation. Resolves the output of `schema`; without one, the JSON of the response as
   * `unknown`. A response without a body resolves `undefined`, unless there is a schema: then it is a
   * `ResponseParseError`. A `DELETE` resolves its body if that is JSON, else `undefined`; a `HEAD` resolves `undefined`
   * and takes no schema.
   *
   * @param request the method, the path, and what to send; other fields than these are refused
   * @param options options of this call
   * @example
   * const issues = await client.request({ method: "GET", path: path`/projects/${project}/issues` });
   */
  request: SendCustom = <Output>(request: CustomRequest<Output>, options?: CallOptions): Promise<Output> =>
    sendCustom(this.#send, request, options);

  /** Walks a list endpoint that has no method of its own; `schema` is that of one item. Nothing is sent until it is consumed. */
  paginate = <Item>(list: CustomList<Item>, options?: ListOptions): Paginator<Item> =>
    paginateCustom(this.#send, list, options);
}

// Not in the class: a class whose body names itself is published under another name.
function deriveClient(parent: Parts, options: ClientOptions): Client {
  return new Client(new Derived(derive(parent, options)) as ClientOptions); // the constructor knows it again
}

function partsOf(options: ClientOptions): Parts {
  const settings = checkOptions(options);
  const token = required(settings.token, "token", "PROJECT_AUTOMATION_TOKEN");
  const baseUrl = required(settings.baseUrl, "baseUrl", "PROJECT_AUTOMATION_BASE_URL");
  return assemble({ ...settings, baseUrl: checkBaseUrl(baseUrl), token: checkToken(token) });
}

function derive(parent: Parts, options: ClientOptions): Parts {
  const settings = checkOptions(options, { ...parent.settings, token: undefined });
  const { baseUrl = parent.settings.baseUrl, token } = settings;
  if (token === undefined && baseUrl.origin !== parent.settings.baseUrl.origin) {
    refuseOption("withOptions: a baseUrl of another origin needs a token of its own");
  }
  return assemble({ ...settings, baseUrl }, parent.pipeline);
}

/** `parent`: its token source and rate limiter are shared if there is no token. */
function assemble(settings: Parts["settings"] & Pick<Settings, "token">, parent?: Pipeline): Parts {
  // The token source alone holds the token: a copy here would stay when the token is swapped.
  const { token, ...others } = settings;
  const { baseUrl } = others;
  checkTransport(baseUrl, settings.allowInsecureHttp);
  const shared = token === undefined ? parent : undefined;
  const pipeline: Pipeline = {
    ...others,
    baseUrl: baseUrl.href.replace(/\/+$/, ""),
    host: baseUrl.host,
    http: createHttp(settings.fetch, settings.fetchOptions),
    tokenSource: shared?.tokenSource ?? sourceOf(token ?? "", (id, own) => rotateItself(pipeline, id, own)),
    rateLimiter: settings.rateLimiter ?? shared?.rateLimiter ?? memoryRateLimiter(),
    instrumentation: instrumentationOf(settings),
    notices: { paused: false, deprecated: new Set() },
  };
  pipeline.tokenSource.subscribe(pipeline.rateLimiter);
  return { settings: others, pipeline };
}

function sourceOf(token: Exclude<Settings["token"], undefined>, rotate: Rotate): TokenSource {
  if (typeof token === "string") return new StaticToken(token);
  return typeof token === "function" ? new ProviderToken(token) : token.toCredential(rotate);
}

function instrumentationOf({ onEvent, logger, logLevel, instrumentation }: Settings): Instrumentation | undefined {
  const level = logLevel ?? environmentLogLevel();
  const log = logger === undefined ? level && logCalls(standardErrorLogger, level) : logCalls(logger, level ?? "warn");
  return combine([onEvent && { begin: () => ({ event: onEvent }) }, log, instrumentation]);
}

function environmentLogLevel(): LogLevel | undefined {
  const level = fromEnvironment("PROJECT_AUTOMATION_LOG");
  const known = LOG_LEVELS.find((one) => one === level);
  if (level !== undefined && known === undefined) {
    refuseOption(`PROJECT_AUTOMATION_LOG in the environment must be one of ${LOG_LEVELS.join(", ")}`);
  }
  return known;
}

// The calls that wait for it hold permits of the client's rate limiter, so it must not wait in the same queue.
function rotateItself(pipeline: Pipeline, id: string, token: string): Promise<CreatedToken> {
  const own = { ...pipeline, tokenSource: new StaticToken(token), rateLimiter: memoryRateLimiter() };
  return createSend(own)(() => rotateToken(id, true), undefined);
}
