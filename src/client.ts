import { adoptReplacement } from "./auth/adoption.ts";
import type { Credential, Rotate } from "./auth/credential.ts";
import { ProviderCredential } from "./auth/provider-credential.ts";
import { StaticCredential } from "./auth/static-credential.ts";
import { flawOfToken } from "./auth/token-format.ts";
import type { EventListener, Logger } from "./events.ts";
import { combine, type Instrumentation } from "./instrumentation.ts";
import { logCalls } from "./logging.ts";
import type { CreatedToken } from "./models.ts";
import {
  type CheckedOptions,
  type ClientOptions,
  checkBaseUrl,
  checkOptions,
  checkToken,
  checkTransport,
  fromEnvironment,
  refuseOption,
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

/** What is checked, plus what a client that is made from another takes over from it. */
interface Parts {
  readonly pipeline: Pipeline;
  readonly onEvent: EventListener | undefined;
  readonly logger: Logger | undefined;
  readonly instrumentation: Instrumentation | undefined;
  readonly baseUrl: URL;
  readonly allowInsecureHttp: boolean;
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
  readonly tokens: Tokens;
  readonly projects: Projects;
  readonly issues: Issues;
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
  withOptions = (options: ClientOptions): Client => {
    return new Client(new Derived(derive(this.#parts, options)) as ClientOptions);
  };

  /**
   * Swaps the token: attempts dispatched from now on carry the new one, also of calls under way and of clients made by
   * `withOptions`. Throws `ConfigError` for a token that cannot be, and on a client with a token provider or a rotating token.
   */
  setToken = (token: string): void => {
    const { credential } = this.#parts.pipeline;
    if (!(credential instanceof StaticCredential)) {
      refuseOption("setToken: this client has a token provider or a rotating token, which alone decide the token");
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

function partsOf(options: ClientOptions): Parts {
  const checked = checkOptions(options);
  const token = checked.token ?? fromEnvironment("PROJECT_AUTOMATION_TOKEN");
  if (token === undefined) {
    refuseOption("token is missing: pass it, or set PROJECT_AUTOMATION_TOKEN in the environment");
  }
  const baseUrl = checked.baseUrl ?? baseUrlFromEnvironment();
  return assemble(checked, {
    baseUrl,
    token: checkToken(token),
    allowInsecureHttp: checked.allowInsecureHttp ?? false,
  });
}

function baseUrlFromEnvironment(): URL {
  const value = fromEnvironment("PROJECT_AUTOMATION_BASE_URL");
  if (value !== undefined) return checkBaseUrl(value);
  refuseOption("baseUrl is missing: pass it, or set PROJECT_AUTOMATION_BASE_URL in the environment");
}

function derive(parent: Parts, options: ClientOptions): Parts {
  const { pipeline } = parent;
  const checked = checkOptions(options, pipeline.retry);
  const baseUrl = checked.baseUrl ?? parent.baseUrl;
  if (checked.token === undefined && baseUrl.origin !== parent.baseUrl.origin) {
    refuseOption("withOptions: a baseUrl of another origin needs a token of its own; this client's would travel there");
  }
  const allowInsecureHttp = checked.allowInsecureHttp ?? parent.allowInsecureHttp;
  return assemble(checked, { baseUrl, token: checked.token, allowInsecureHttp, parent });
}

interface Base {
  readonly baseUrl: URL;
  /** Without one, the parent's credential is shared. */
  readonly token: CheckedOptions["token"];
  readonly allowInsecureHttp: boolean;
  /** Whose settings hold where the options say nothing. */
  readonly parent?: Parts;
}

function assemble(checked: CheckedOptions, { baseUrl, token, allowInsecureHttp, parent: from }: Base): Parts {
  checkTransport(baseUrl, allowInsecureHttp);
  const parent = from?.pipeline;
  const onEvent = checked.onEvent ?? from?.onEvent;
  const logger = checked.logger ?? from?.logger;
  const instrumentation = checked.instrumentation ?? from?.instrumentation;
  const shared = token === undefined ? parent : undefined;
  const credential = shared?.credential ?? credentialOf(token ?? "", (id, own) => rotateItself(pipeline, id, own));
  const rateLimiter = checked.rateLimiter ?? shared?.rateLimiter ?? memoryRateLimiter();
  credential.inform(rateLimiter);
  const pipeline: Pipeline = {
    baseUrl: baseUrl.href.replace(/\/+$/, ""),
    headers: { accept: "application/json", ...parent?.headers, ...checked.headers },
    fetch: checked.fetch ?? parent?.fetch,
    credential,
    rateLimiter,
    maxConcurrency: checked.maxConcurrency ?? parent?.maxConcurrency ?? 10,
    timeoutMs: checked.timeoutMs ?? parent?.timeoutMs ?? 30_000,
    totalTimeoutMs: checked.totalTimeoutMs ?? parent?.totalTimeoutMs ?? Number.POSITIVE_INFINITY,
    retry: checked.retry,
    lenient: checked.lenient ?? parent?.lenient ?? false,
    instrumentation: combine([
      onEvent && { begin: () => ({ event: onEvent }) },
      logger && logCalls(logger),
      instrumentation,
    ]),
    journal: { calls: 0, paused: false, deprecated: new Set() },
  };
  return { pipeline, baseUrl, allowInsecureHttp, onEvent, logger, instrumentation };
}

function credentialOf(token: Exclude<CheckedOptions["token"], undefined>, rotate: Rotate): Credential {
  if (typeof token === "string") return new StaticCredential(token);
  return typeof token === "function" ? new ProviderCredential(token) : token.toCredential(rotate);
}

// The calls that wait for it hold slots of the client's rate limiter, so it must not stand in that line itself.
function rotateItself(pipeline: Pipeline, id: string, token: string): Promise<CreatedToken> {
  const own = { ...pipeline, credential: new StaticCredential(token), rateLimiter: memoryRateLimiter() };
  return createSend(own)(() => rotateToken(id, true), undefined);
}
