import { checkTransport } from "./call/base-url.ts";
import { createHttp } from "./call/http.ts";
import type { Send } from "./call/operation.ts";
import { createSend } from "./call/send.ts";
import type { CallOptions, ClientContext } from "./call/settings.ts";
import { expectNoSurplus, invalid } from "./checks/invalid-input.ts";
import { nullPrototype } from "./checks/values.ts";
import { calledBy } from "./errors/caller-stack.ts";
import { combine } from "./instrumentation.ts";
import { logCalls } from "./logging.ts";
import type { CreatedToken } from "./models.ts";
import { type ClientOptions, checkStaticToken, configuring, type Settings, settingsOf } from "./options.ts";
import type { Paginator } from "./paging/paginator.ts";
import { type Permit, pauseLeft, type RateLimitSnapshot, snapshotOf } from "./rate-limit/rate-limiter.ts";
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
import { rotation, Tokens } from "./resources/tokens.ts";
import { StaticToken } from "./token/static-token.ts";
import type { TokenSource, TokenSourceFactory } from "./token/token-source.ts";

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
  /** The address of the service, without trailing slashes. */
  readonly baseUrl: string;
  readonly #assembly: Assembly;
  readonly #send: Send;

  constructor(options?: ClientOptions);
  constructor(...args: readonly [options?: ClientOptions]) {
    this.#assembly = calledBy(new.target, () => configuring(args[0], () => assemble(settingsOf(args))));
    this.#send = createSend(this.#assembly);
    this.baseUrl = this.#assembly.baseUrl;
    this.tokens = new Tokens(this.#send);
    this.projects = new Projects(this.#send);
    this.issues = new Issues(this.#send);
    this.sessions = new Sessions(this.#send);
  }

  /** The latest that is known of the token's rate limit; `undefined` before the first response to this token. */
  get rateLimit(): RateLimitSnapshot | undefined {
    const { rateLimiter, tokenSource } = this.#assembly;
    return snapshotOf(rateLimiter, tokenSource.current);
  }

  /**
   * Returns a client with some options changed. It shares the token source and the rate limiter of this one, also when
   * the token is swapped later. With a `token` of its own it has its own token source; the rate limiter stays shared, since
   * rate limiters keep tokens apart. A `baseUrl` of another origin needs a `token` of its own, because this client's would
   * travel there.
   *
   * @throws `ConfigError` if an option is invalid
   *
   * @example
   * const patient = client.withOptions({ totalTimeoutMs: 600_000 });
   */
  withOptions: (options: ClientOptions) => Client = (...args) =>
    calledBy(this.withOptions, () => derive(this.#assembly, args));

  /**
   * Swaps the token: attempts sent from now on carry the new one, also those of pending calls and of clients made by
   * `withOptions`.
   *
   * @throws `ConfigError` if the token is invalid, or if a token provider or a rotating token decides the token
   */
  setToken: (token: string) => void = (...args) =>
    calledBy(this.setToken, () => setStaticToken(this.#assembly.tokenSource, args));

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
  request: SendCustom = <Output>(
    request: CustomRequest<Output>,
    ...options: [options?: CallOptions]
  ): Promise<Output> => sendCustom(this.#send, request, options);

  /** Walks a list endpoint that has no method of its own; `schema` is that of one item. Nothing is sent until it is consumed. */
  paginate: <Item>(list: CustomList<Item>, options?: ListOptions) => Paginator<Item> = (list, ...options) =>
    paginateCustom(this.#send, list, options);
}

function setStaticToken(tokenSource: TokenSource, [token, ...surplus]: readonly [string]): void {
  configuring({ token }, () => {
    expectNoSurplus(surplus, "setToken takes one argument, the token");
    if (!(tokenSource instanceof StaticToken)) {
      invalid("setToken: the token provider or the rotating token of this client decides the token");
    }
    tokenSource.set(checkStaticToken(token));
  });
}

// Not in the class: a class whose body names itself is published under another name.
function derive({ settings }: Assembly, args: readonly [ClientOptions]): Client {
  const derived = configuring(args[0], () => settingsOf(args, settings));
  return new Client(derived as ClientOptions); // settings are options
}

/** What a client is made of, and what another can be derived from. */
interface Assembly extends ClientContext {
  /** With the token source in place of the token: it alone holds it, and a copy here would stay when it is swapped. */
  readonly settings: Settings;
}

/** Makes the parts of a client. Clients that are derived from it share token source and rate limiter. */
function assemble(given: Settings): Assembly {
  const { baseUrl, allowInsecureHttp, fetch, fetchOptions, onEvent, logger, logLevel, instrumentation } = given;
  const url = new URL(baseUrl);
  checkTransport(url, allowInsecureHttp);
  const tokenSource = given.token.createSource((stored, permit) => rotateItself(assembly, stored, permit), url.origin);
  const token: TokenSourceFactory = {
    createSource: (_, origin) =>
      origin === url.origin
        ? tokenSource
        : invalid("withOptions: a baseUrl of another origin needs a token of its own"),
  };
  const settings = nullPrototype<Settings>(given, { token });
  const assembly = nullPrototype<Assembly>(settings, {
    settings,
    http: createHttp(fetch, fetchOptions),
    tokenSource,
    observers: combine([onEvent && { begin: () => ({ event: onEvent }) }, logCalls(logger, logLevel), instrumentation]),
    emittedOnce: { paused: new Set(), deprecated: new Set() },
  });
  return assembly;
}

/** Sends the rotation as the request that the permit has been admitted for: the call whose permit it is waits for it. */
function rotateItself(
  client: ClientContext,
  { id, plaintext }: Pick<CreatedToken, "id" | "plaintext">,
  permit: Permit,
): Promise<CreatedToken> {
  const admitted: Permit = {
    acquire: () => {
      // Another request's 429 may have begun a pause while the rotation was backing off.
      const pauseMs = pauseLeft(client.rateLimiter, plaintext);
      return pauseMs ? { kind: "refused", pauseMs } : { kind: "admitted" };
    },
    report: (head) => permit.report(head),
    release() {},
  };
  // A pause is not waited for here: the call has its own bounds for that.
  const retry = client.retry && { ...client.retry, rateLimitWaits: 0 };
  const own = nullPrototype<ClientContext>(client, { tokenSource: new StaticToken(plaintext), retry });
  return createSend(own)("tokens.rotate", () => ({ ...rotation(id, true), options: {}, permit: admitted }));
}
