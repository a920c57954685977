import { ignoreErrors } from "../core/checks/ignore-errors.ts";
import { applyFault, replacesOperation } from "./apply-fault.ts";
import {
  type Addressed,
  ENDPOINTS,
  type Endpoint,
  findRoute,
  OPERATION_NAMES,
  type OperationName,
  pathOf,
  queryOf,
  type Route,
} from "./endpoints.ts";
import { type Core, type Ending, type IncomingRequest, MAX_BODY_BYTES, type OutgoingResponse } from "./exchange.ts";
import type { ActiveFault, Fault, JsonBody } from "./faults.ts";
import { type Call, OPERATIONS } from "./operations.ts";
import type { ResolvedOptions } from "./options.ts";
import { type Quota, UNLIMITED } from "./rate-limit.ts";
import { Refusal } from "./request-fields.ts";
import type { LogEntry, Watcher } from "./request-log.ts";
import {
  areAlike,
  codeOf,
  type Envelope,
  preflightResponse,
  type Reply,
  type ServiceReply,
  toResponse,
  type Unsettled,
} from "./response.ts";
import { type EmulatorRoute, handleRoute, parseRoute } from "./routes.ts";
import type { State } from "./state.ts";
import { stateOf, type TokenRow } from "./token-tables.ts";

interface ServedEndpoint extends Addressed {
  readonly scope: string | undefined;
  readonly operation: OperationName | undefined;
  readonly serve: (call: Call, entry: LogEntry) => ServiceReply;
}

interface Exchange {
  readonly state: State;
  readonly incoming: IncomingRequest;
  readonly route: Route<ServedEndpoint>;
  readonly token: TokenRow | undefined;
  readonly now: number;
  readonly entry: LogEntry;
}

interface Result {
  readonly reply: Reply;
  readonly response: Unsettled;
}

interface ServiceSource {
  readonly options: ResolvedOptions;
  /** The current state; a request under way still ends in the one it began with. */
  readonly state: () => State;
  readonly tables: Call["tables"];
}

/**
 * The service itself: one request in, one response out, in one synchronous step. Faults are looked at first; then come
 * authentication, the rate limit, the route, the scope, and the operation.
 */
export class Service implements Core {
  readonly #source: ServiceSource;
  /** Endpoints of tests come first, the latest in front: `/sessions/active` is not taken for a session. */
  #endpoints: readonly ServedEndpoint[];
  #watcher: Watcher | undefined;

  constructor(source: ServiceSource) {
    const { conventions, listIssues } = source.options;
    this.#source = source;
    this.#endpoints = OPERATION_NAMES.filter((name) => listIssues || name !== "issues.list").map((operation) => {
      const { method, path, scope }: Endpoint = ENDPOINTS[operation];
      const serve = (call: Call): ServiceReply => {
        return { status: conventions.successStatus[operation], content: OPERATIONS[operation](call), headers: {} };
      };
      return { method, path, scope, operation, serve };
    });
  }

  watch(watcher: Watcher): void {
    this.#watcher = watcher;
  }

  /** Adds an endpoint of a test's own. Throws a `TypeError` if it is malformed. */
  add(given: EmulatorRoute): void {
    const route = parseRoute(given);
    const { method, path, scope } = route;
    const serve: ServedEndpoint["serve"] = ({ values }, entry) => handleRoute(route, entry, values);
    this.#endpoints = [{ method, path, scope, operation: undefined, serve }, ...this.#endpoints];
  }

  handle(incoming: IncomingRequest): OutgoingResponse {
    const { options } = this.#source;
    if (isPreflight(incoming) && options.conventions.cors.allowOrigin !== null) {
      return { ...preflightResponse(options.conventions), settle: () => undefined };
    }
    const state = this.#source.state();
    const now = options.now();
    const served = { basePath: pathOf(options.baseUrl), endpoints: this.#endpoints };
    const route = findRoute(served, incoming.method, incoming.target);
    const token = state.tokens.byPlaintext.get(bearerOf(incoming.headers) ?? "");
    const { path, endpoint } = route;
    const { operation } = endpoint ?? {};
    const entry = state.log.open({ incoming, path, operation, token: token?.keyId, at: now });
    const exchange = { state, incoming, route, token, now, entry };
    const { reply, response } = this.#respond(exchange);
    entry.status = response.delivery.dropped ? undefined : response.status;
    entry.code = response.delivery.dropped ? undefined : codeOf(reply.content);
    const end = this.#watcher?.(entry, response);
    return { ...response, settle: (ending) => this.#settle(exchange, ending) && end?.() };
  }

  /** Returns whether the response had not ended before. */
  #settle({ state, entry }: Exchange, outcome: Ending): boolean {
    const { now, onRequest } = this.#source.options;
    const isFirst = state.log.close(entry, { outcome, at: now() });
    if (isFirst) ignoreErrors(() => onRequest?.(entry));
    return isFirst;
  }

  #respond(exchange: Exchange): Result {
    const { state, entry, now } = exchange;
    const { conventions } = this.#source.options;
    const envelope = { conventions, now, windowMs: state.limiter.windowMs, requestId: entry.requestId };
    try {
      const active = state.faults.take(entry);
      if (active !== undefined) return this.#respondWithFault(exchange, active, envelope);
      const reply = this.#serve(exchange);
      return { reply, response: toResponse(reply, envelope) };
    } catch (error) {
      // Only a function of a fault or a fault of the emulator itself can come here; the test should see which.
      const content = this.#errorBody("emulator_error", String(error));
      const reply = { status: 500, content, headers: {}, quota: UNLIMITED };
      return { reply, response: toResponse(reply, envelope) };
    }
  }

  /** Counts the fault as a hit only if it changed the response. */
  #respondWithFault(exchange: Exchange, active: ActiveFault, envelope: Envelope): Result {
    const { entry } = exchange;
    const { fault } = active;
    let isChanged = true; // also if a function of the fault throws
    try {
      const isReplaced = replacesOperation(fault);
      const served = isReplaced ? unserved(exchange) : this.#serve(exchange, fault.page);
      const reply = applyFault(fault, served, entry);
      const response = toResponse(reply, { ...envelope, fault });
      const isPage = fault.page !== undefined && entry.applied;
      isChanged = isReplaced || isPage || !areAlike(response, toResponse(served, envelope));
      return { reply, response };
    } finally {
      entry.faulty = isChanged;
      if (isChanged) active.hits += 1;
    }
  }

  #serve(exchange: Exchange, page?: Fault["page"]): Reply {
    let quota: Quota = UNLIMITED;
    try {
      const caller = authenticate(exchange);
      quota = exchange.state.limiter.take(caller.id, exchange.now);
      if (quota.retryAfterSeconds !== undefined) {
        const content = this.#errorBody("too_many_requests", "the token has used up its requests of this window");
        return { status: 429, content, headers: {}, quota };
      }
      return { ...this.#perform(exchange, { caller, page }), quota };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { status, code } = this.#source.options.conventions.refusals[error.reason];
      return { status, content: this.#errorBody(code, error.message), headers: error.headers, quota };
    }
  }

  #perform(exchange: Exchange, by: Pick<Call, "caller" | "page">): ServiceReply {
    const { state, incoming, route, now, entry } = exchange;
    const { options, tables } = this.#source;
    const { endpoint, values } = route;
    if (by.caller.scopes.length === 0) throw new Refusal("missingScope", "the token has no scopes");
    if (endpoint === undefined) throw unroutable(route);
    const { body } = incoming;
    if (body === "too large" || (body !== undefined && body.length > MAX_BODY_BYTES)) {
      throw new Refusal("bodyTooLarge", `the request body is larger than ${MAX_BODY_BYTES} bytes`);
    }
    if (endpoint.scope !== undefined && state.tokens.missing(by.caller, [endpoint.scope]).length > 0) {
      throw new Refusal("missingScope", `the token or its owner lacks the scope ${endpoint.scope}`);
    }
    const query = new URLSearchParams(queryOf(incoming.target));
    const reply = endpoint.serve({ ...state, ...by, tables, options, now, values, query, body }, entry);
    entry.applied = true;
    return reply;
  }

  #errorBody(error: string, message: string): JsonBody {
    return { ...this.#source.options.conventions.extraFields.error, error, message };
  }
}

function isPreflight({ method, headers }: IncomingRequest): boolean {
  return method === "OPTIONS" && headers.has("access-control-request-method");
}

function authenticate({ incoming, token, now }: Exchange): TokenRow {
  const challenge = { "www-authenticate": "Bearer" };
  if (bearerOf(incoming.headers) === undefined) {
    throw new Refusal("missingToken", "the header Authorization: Bearer <token> is missing", challenge);
  }
  if (token === undefined) throw new Refusal("unknownToken", "the token is unknown", challenge);
  const state = stateOf(token, now);
  if (state === "revoked") throw new Refusal("revokedToken", "the token was revoked", challenge);
  if (state === "expired") throw new Refusal("expiredToken", "the token has expired", challenge);
  return token;
}

function bearerOf(headers: Headers): string | undefined {
  return /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
}

function unroutable({ allow }: Pick<Route<unknown>, "allow">): Refusal {
  if (allow.length === 0) return new Refusal("unknownRoute", "there is no such endpoint");
  return new Refusal("wrongMethod", "the endpoint does not know this method", { allow: allow.join(", ") });
}

/** The reply in place of an operation that is not carried out: with the state of the token's window, nothing counted. */
function unserved({ state, token, now }: Exchange): Reply {
  const isActive = token !== undefined && stateOf(token, now) === "active";
  const quota = isActive ? state.limiter.peek(token.id, now) : UNLIMITED;
  return { status: 500, content: undefined, headers: {}, quota };
}
