import { ignoreErrors } from "../ignore-errors.ts";
import type { Reply } from "./answer.ts";
import { codeOf, toAnswer } from "./answer.ts";
import { scriptedBody } from "./bodies.ts";
import { isRecord } from "./checks.ts";
import type { Answer, Core, Ending, Incoming } from "./exchange.ts";
import { MAX_BODY_BYTES } from "./exchange.ts";
import type { Fault, JsonBody } from "./faults.ts";
import type { ResolvedOptions } from "./options.ts";
import type { Quota } from "./rate-limit.ts";
import { UNLIMITED } from "./rate-limit.ts";
import { Refusal } from "./refusal.ts";
import type { LogEntry } from "./request-log.ts";
import { queryOf } from "./request-log.ts";
import type { Route } from "./routes.ts";
import { findRoute, pathOf } from "./routes.ts";
import type { TokenRow } from "./tokens.ts";
import type { World } from "./world.ts";

interface Exchange {
  readonly world: World;
  readonly incoming: Incoming;
  readonly route: Route;
  readonly token: TokenRow | undefined;
  readonly now: number;
  readonly entry: LogEntry;
}

/**
 * The service itself: one request in, one answer out, in one synchronous step. A fault is met first; then come
 * authentication, the rate limit, the route, the scope, and the operation.
 */
export class Service implements Core {
  readonly #options: ResolvedOptions;
  readonly #basePath: string;
  #world: World;

  constructor(options: ResolvedOptions, world: World) {
    this.#options = options;
    this.#basePath = pathOf(options.baseUrl);
    this.#world = world;
  }

  get world(): World {
    return this.#world;
  }

  /** From now on requests meet `world`; those under way still end in the old one. */
  enter(world: World): void {
    this.#world = world;
  }

  handle(incoming: Incoming): Answer {
    const world = this.#world;
    const now = this.#options.now();
    const route = findRoute(this.#basePath, incoming.method, incoming.target);
    const token = world.tokens.findByPlaintext(bearerOf(incoming.headers) ?? "");
    const operation = route.operation?.name;
    const entry = world.log.open({ incoming, path: route.path, operation, token: token?.keyId, at: now });
    const exchange = { world, incoming, route, token, now, entry };
    const { reply, answer } = this.#answer(exchange);
    entry.status = answer.delivery.dropped ? undefined : answer.status;
    entry.code = answer.delivery.dropped ? undefined : codeOf(reply.content);
    return { ...answer, settle: (ending) => this.#settle(exchange, ending) };
  }

  #settle({ world, entry }: Exchange, outcome: Ending): void {
    if (!world.log.close(entry, { outcome, at: this.#options.now() })) return;
    ignoreErrors(() => this.#options.onRequest?.(entry));
  }

  #answer(exchange: Exchange): { reply: Reply; answer: Omit<Answer, "settle"> } {
    const { world, entry, now } = exchange;
    const envelope = { now, requestId: entry.requestId };
    try {
      const fault = world.faults.take(entry);
      entry.faulty = fault !== undefined;
      const reply = fault === undefined ? this.#serve(exchange) : this.#misbehave(exchange, fault);
      return { reply, answer: toAnswer(reply, { ...envelope, fault }) };
    } catch (error) {
      // Only a function of a fault or a fault of the emulator itself can come here; the test should see which.
      const content = this.#errorBody("emulator_error", String(error));
      const reply = { status: 500, content, headers: {}, quota: UNLIMITED };
      return { reply, answer: toAnswer(reply, envelope) };
    }
  }

  #misbehave(exchange: Exchange, fault: Fault): Reply {
    const replaced = fault.status !== undefined && fault.apply !== true;
    if (replaced || fault.drop === "before") {
      return scripted(fault, { status: 500, content: undefined, headers: {}, quota: peek(exchange) });
    }
    const served = this.#serve(exchange, fault.page);
    if (fault.transform === undefined || !isRecord(served.content)) return scripted(fault, served);
    // A copy: the transform may alter its argument, and the records inside are the emulator's own.
    const copy: JsonBody = structuredClone(served.content);
    return { ...served, content: fault.transform(copy, exchange.entry) };
  }

  #serve(exchange: Exchange, page?: Fault["page"]): Reply {
    let quota: Quota = UNLIMITED;
    try {
      const caller = authenticate(exchange);
      quota = exchange.world.limiter.take(caller.id, exchange.now);
      if (quota.retryAfterSeconds !== undefined) {
        const content = this.#errorBody("too_many_requests", "the token has used up its requests of this window");
        return { status: 429, content, headers: {}, quota };
      }
      const { status, content } = this.#perform(exchange, { caller, page });
      return { status, content, headers: {}, quota };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { status, code } = this.#options.conventions.refusals[error.reason];
      return { status, content: this.#errorBody(code, error.message), headers: error.headers, quota };
    }
  }

  #perform(exchange: Exchange, by: { caller: TokenRow; page: Fault["page"] }): Pick<Reply, "status" | "content"> {
    const { world, incoming, route, now, entry } = exchange;
    if (by.caller.scopes.length === 0) throw new Refusal("missingScope", "the token has no scopes");
    const { operation, values } = route;
    if (operation === undefined) throw unroutable(route);
    if (incoming.body === "too large") {
      throw new Refusal("bodyTooLarge", `the request body is larger than ${MAX_BODY_BYTES} bytes`);
    }
    if (operation.scope !== undefined && !world.tokens.allows(by.caller, operation.scope)) {
      throw new Refusal("missingScope", `the token or its owner lacks the scope ${operation.scope}`);
    }
    const query = new URLSearchParams(queryOf(incoming.target));
    const { conventions } = this.#options;
    const content = operation.run({ ...world, ...by, conventions, now, values, query, body: incoming.body });
    entry.applied = true;
    return { status: conventions.successStatus[operation.name], content };
  }

  #errorBody(error: string, message: string): JsonBody {
    return { ...this.#options.conventions.extraFields.error, error, message };
  }
}

function authenticate({ world, incoming, token, now }: Exchange): TokenRow {
  const challenge = { "www-authenticate": "Bearer" };
  if (bearerOf(incoming.headers) === undefined) {
    throw new Refusal("missingToken", "the header Authorization: Bearer <token> is missing", challenge);
  }
  if (token === undefined) throw new Refusal("unknownToken", "the token is unknown", challenge);
  const state = world.tokens.stateOf(token, now);
  if (state === "revoked") throw new Refusal("revokedToken", "the token was revoked", challenge);
  if (state === "expired") throw new Refusal("expiredToken", "the token has expired", challenge);
  return token;
}

function bearerOf(headers: Headers): string | undefined {
  return /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
}

function unroutable({ allow }: Route): Refusal {
  if (allow.length === 0) return new Refusal("unknownRoute", "there is no such endpoint");
  return new Refusal("wrongMethod", "the endpoint does not know this method", { allow: allow.join(", ") });
}

/** What a response that the service had no part in says of the token's window. */
function peek({ world, token, now }: Exchange): Quota {
  const active = token !== undefined && world.tokens.stateOf(token, now) === "active";
  return active ? world.limiter.peek(token.id, now) : UNLIMITED;
}

function scripted(fault: Fault, reply: Reply): Reply {
  if (fault.status === undefined) return fault.body === undefined ? reply : { ...reply, content: fault.body };
  const content = fault.body === undefined ? scriptedBody(fault.status) : fault.body;
  return { status: fault.status, content, headers: {}, quota: { ...reply.quota, retryAfterSeconds: undefined } };
}
