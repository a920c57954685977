import { adoptReplacement } from "./auth/adopt.ts";
import { ProviderToken } from "./auth/provider-token.ts";
import { StaticToken } from "./auth/static-token.ts";
import { flawOfToken } from "./auth/token-format.ts";
import type { Rotate, TokenSource } from "./auth/token-source.ts";
import { combine, type Instrumentation } from "./instrumentation.ts";
import { logCalls } from "./logging.ts";
import type { CreatedToken } from "./models.ts";
import {
  type ClientOptions,
  checkBaseUrl,
  checkOptions,
  checkToken,
  checkTransport,
  refuseOption,
  required,
  type Settings,
} from "./options.ts";
import type { Paginator } from "./paging/paginator.ts";
import { memoryRateLimiter } from "./rate-limit/memory-rate-limiter.ts";
import type { RateLimitSnapshot } from "./rate-limit/rate-limiter.ts";
import type { Pipeline } from "./request/call.ts";
import type { CallOptions, Send } from "./request/operation.ts";
import { createSend } from "./request/send.ts";
import { type CustomList, type CustomRequest, paginateCustom, sendCustom } from "./resources/custom.ts";
import { Issues } from "./resources/issues.ts";
import type { ListOptions } from "./resources/list.ts";
import { Projects } from "./resources/projects.ts";
import { Sessions } from "./resources/sessions.ts";
import { rotateToken, Tokens } from "./resources/tokens.ts";

/** What a client is made of, and what another can be made from. */
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
 * A client of the project automation service. It waits when the service tells it to, never repeats a write that may have
 * been applied, and rejects with one family of typed errors. All its state is its own; it holds no timer while idle.
 *
 * Throws `ConfigError`, and sends nothing, for options that cannot be.
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
  /** Agent sessions: list, get, and waiting for what becomes of one. */
  readonly sessions: Sessions;
  readonly #parts: Parts;
  readonly #send: Send;

  constructor(options: ClientOptions = {}) {
    this.#parts = options instanceof Derived ? options.parts : partsOf(options);
    const { pipeline } = this.#parts;
    this.#send = createSend(pipeline);
    this.tokens = new Tokens(this.#send, (rotate) => adoptReplacement(pipeline.credential, rotate));
    this.projects = new Projects(this.#send);
    this.issues = new Issues(this.#send);
    this.sessions = new Sessions(this.#send, pipeline.totalTimeoutMs);
  }

  /** The latest that is known of the token's rate limit; `undefined` before the first answer with this token. */
  get rateLimit(): RateLimitSnapshot | undefined {
    const { rateLimiter, credential } = this.#parts.pipeline;
    return rateLimiter.snapshot(credential.current);
  }

  /**
   * A client with some options changed. It shares the credential and the rate limiter of this one, also when the token
   * is swapped later; with a `token` of its own it has its own of both. A `baseUrl` of another origin needs a `token` of
   * its own, since this one's would travel there. Throws `ConfigError`.
   */
  withOptions = (options: ClientOptions): Client => clientWith(derive(this.#parts, options));

  /**
   * Swaps the token: attempts dispatched from now on carry the new one, also of calls under way and of clients made by
   * `withOptions`. Throws `ConfigError` for a token that cannot be, and on a client with a token provider or a rotating token.
   */
  setToken = (token: string): void => {
    const { credential } = this.#parts.pipeline;
    if (!(credential instanceof StaticToken)) {
      refuseOption("setToken: a token provider or a rotating token alone decides the token");
    }
    const flaw = flawOfToken(token);
    if (flaw !== undefined) refuseOption(`setToken: token ${flaw}`);
    credential.set(token);
  };

  /**
   * Sends a request to an endpoint that has no method of its own, with the same authentication, rate limiter, retries,
   * path safety, errors and validation. Resolves with what `schema` makes of the answer; without one, `unknown`.
   *
   * @example
   * const issues = await client.request({ method: "GET", path: path`/projects/${project}/issues` });
   */
  request = <Output = unknown>(request: CustomRequest<Output>, options?: CallOptions): Promise<Output> =>
    sendCustom(this.#send, request, options);

  /** Walks a list endpoint that has no method of its own; `schema` is that of one item. Nothing is sent until it is consumed. */
  paginate = <Item>(list: CustomList<Item>, options?: ListOptions): Paginator<Item> =>
    paginateCustom(this.#send, list, options);
}

// Not in the class: one whose body names itself is published under another name.
function clientWith(parts: Parts): Client {
  return new Client(new Derived(parts) as ClientOptions);
}

function partsOf(options: ClientOptions): Parts {
  const settings = checkOptions(options);
  const token = required(settings.token, "token", "PROJECT_AUTOMATION_TOKEN");
  const baseUrl = required(settings.baseUrl, "baseUrl", "PROJECT_AUTOMATION_BASE_URL");
  return assemble({ ...settings, baseUrl: checkBaseUrl(baseUrl), token: checkToken(token) });
}

function derive(parent: Parts, options: ClientOptions): Parts {
  // A token of its own has a limit of its own.
  const inherited = { ...parent.settings, token: undefined, rateLimiter: undefined };
  const settings = checkOptions(options, inherited);
  const { baseUrl = parent.settings.baseUrl, token } = settings;
  if (token === undefined && baseUrl.origin !== parent.settings.baseUrl.origin) {
    refuseOption("withOptions: a baseUrl of another origin needs a token of its own");
  }
  return assemble({ ...settings, baseUrl }, parent.pipeline);
}

/** `parent`: whose credential and rate limiter are shared where there is no token. */
function assemble(settings: Parts["settings"] & Pick<Settings, "token">, parent?: Pipeline): Parts {
  // The credential alone holds the token: here it would stay when it is swapped.
  const { token, ...others } = settings;
  const { baseUrl } = others;
  checkTransport(baseUrl, settings.allowInsecureHttp);
  const shared = token === undefined ? parent : undefined;
  const pipeline: Pipeline = {
    ...others,
    baseUrl: baseUrl.href.replace(/\/+$/, ""),
    credential: shared?.credential ?? credentialOf(token ?? "", (id, own) => rotateItself(pipeline, id, own)),
    rateLimiter: settings.rateLimiter ?? shared?.rateLimiter ?? memoryRateLimiter(),
    instrumentation: instrumentationOf(settings),
    journal: { paused: false, deprecated: new Set() },
  };
  pipeline.credential.subscribe(pipeline.rateLimiter);
  return { settings: others, pipeline };
}

function credentialOf(token: Exclude<Settings["token"], undefined>, rotate: Rotate): TokenSource {
  if (typeof token === "string") return new StaticToken(token);
  return typeof token === "function" ? new ProviderToken(token) : token.toCredential(rotate);
}

function instrumentationOf({ onEvent, logger, instrumentation }: Settings): Instrumentation | undefined {
  return combine([onEvent && { begin: () => ({ event: onEvent }) }, logger && logCalls(logger), instrumentation]);
}

// The calls that wait for it hold slots of the client's rate limiter, so it must not stand in that line itself.
function rotateItself(pipeline: Pipeline, id: string, token: string): Promise<CreatedToken> {
  const own = { ...pipeline, credential: new StaticToken(token), rateLimiter: memoryRateLimiter() };
  return createSend(own)(() => rotateToken(id, true), undefined);
}
