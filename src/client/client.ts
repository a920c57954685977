import { type ApiPromise, apiPromise } from "../core/call/api-promise.ts";
import type { CallOptions } from "../core/call/call-options.ts";
import { INTERNALS, type Internals } from "../core/call/internals.ts";
import { Send } from "../core/call/send.ts";
import {
  type CustomList,
  type CustomRequest,
  describeList,
  describeRequest,
  type PaginateCustom,
  type SendCustom,
} from "../core/custom.ts";
import { withCallerStack } from "../core/errors/caller-stack.ts";
import { type ListOptions, paginate } from "../core/list.ts";
import type { Paginator } from "../core/paging/paginator.ts";
import type { RateLimitSnapshot } from "../core/rate-limit/rate-limiter.ts";
import { Issues } from "../service/issues.ts";
import { Projects } from "../service/projects.ts";
import { Sessions } from "../service/sessions.ts";
import { Tokens } from "../service/tokens.ts";
import { type ClientContext, contextOf, swapToken } from "./context.ts";
import type { ClientOptions } from "./options.ts";

/**
 * A client of the project automation service. It waits when the service asks it to, never repeats a write that may have
 * been applied, and rejects with one family of typed errors. Clients share no state unless a rate limiter or a token
 * source is passed to several. An idle client has no timer. Wrap it, and do not extend it: `withOptions` and
 * `bulkWrite` make plain clients, without the methods of a subclass.
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
  readonly #context: ClientContext;
  readonly #send: Send;

  constructor(options?: ClientOptions);
  constructor(options?: ClientOptions | Derived) {
    this.#context =
      options instanceof Derived ? options.context : withCallerStack(new.target, () => contextOf(options));
    this.#send = new Send(this.#context);
    this.baseUrl = this.#context.baseUrl;
    this.tokens = new Tokens(this.#send);
    this.projects = new Projects(this.#send);
    this.issues = new Issues(this.#send);
    this.sessions = new Sessions(this.#send);
  }

  /**
   * The latest that is known of the token's rate limit; `undefined` before the first response to this token. With a token
   * provider it is that of the token which the provider returned last.
   */
  get rateLimit(): RateLimitSnapshot | undefined {
    const { baseUrl, rateLimiter, tokenSource } = this.#context;
    return rateLimiter.snapshot(tokenSource.current, baseUrl);
  }

  /**
   * Returns a client with some options changed. It shares the token source and the rate limiter of this one, also when
   * the token is swapped later. With a `token` of its own it has its own token source; the rate limiter stays shared, since
   * rate limiters keep tokens apart. A `token` or `baseUrl` that is there and `undefined` is a `ConfigError`: a visitor
   * without a token never acts with this client's.
   *
   * A service is an origin and a base path. A `baseUrl` of another service needs its own `token`. It needs its own `headers`,
   * `fetchOptions` and `allowInsecureHttp` too, if this client has any: they may be secrets, certificates or permissions
   * for the first service. `headers: {}`, `fetchOptions: {}` and `allowInsecureHttp: false` are none.
   *
   * @throws `ConfigError` if an option is invalid, or is missing for another service
   *
   * @example
   * const patient = client.withOptions({ totalTimeoutMs: 600_000 });
   */
  withOptions: (options: ClientOptions) => Client = (options) =>
    withCallerStack(this.withOptions, () => derived(contextOf(options, this.#context)));

  /**
   * Swaps the token: attempts sent from now on carry the new one, also those of pending calls and of clients made by
   * `withOptions`.
   *
   * @throws `ConfigError` if the token is invalid, or if a token provider or a rotating token decides the token
   */
  setToken: (token: string) => void = (token) => withCallerStack(this.setToken, () => swapToken(this.#context, token));

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
  request: SendCustom = <Output>(request: CustomRequest<Output>, options?: CallOptions): ApiPromise<Output> =>
    apiPromise(this.request, () => this.#send.call("request", () => describeRequest(request, options)));

  /**
   * Walks a list endpoint that has no method of its own. `schema` is that of one item; without one, items are the JSON of
   * the response as `unknown`. Nothing is sent until it is consumed.
   *
   * @param list the path, and what to send; other fields than these are refused
   * @param options options of each page's call, and `prefetch`
   * @example
   * for await (const issue of client.paginate({ path: path`/projects/${project}/issues` })) console.log(issue);
   */
  paginate: PaginateCustom = <Item>(list: CustomList<Item>, options?: ListOptions): Paginator<Item> =>
    paginate(this.#send, "paginate", () => describeList(list, options));

  /** @internal What other parts of this package ask of a client. */
  get [INTERNALS](): Internals<Client> {
    return {
      context: () => this.#context,
      instrumented: (inner) => derived({ ...this.#context, inner }),
    };
  }
}

/** Tells the context of a derived client from options. */
class Derived {
  readonly context: ClientContext;

  constructor(context: ClientContext) {
    this.context = context;
  }
}

// Not in the class: a class whose body names itself is published under another name.
function derived(context: ClientContext): Client {
  return new Client(new Derived(context) as ClientOptions); // the constructor asks for it first
}
