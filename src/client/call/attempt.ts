import { ignoreErrors } from "../checks/ignore-errors.ts";
import { expectType } from "../checks/parse-options.ts";
import { RECORD } from "../checks/validators.ts";
import type { AutomationError } from "../errors/automation-error.ts";
import { ArgumentError, TokenProviderError } from "../errors/classes.ts";
import { type Admission, type Permit, pauseLeft, snapshotOf } from "../rate-limit/rate-limiter.ts";
import { platformTurn } from "../time/clock.ts";
import { STOPPED } from "../time/deadline.ts";
import type { RequestToken, TokenUnavailable } from "../token/token-source.ts";
import type { Call } from "./call.ts";
import { buildError, limiterError, pausedError, refusalError, stoppedError } from "./create-error.ts";
import { performExchange } from "./exchange.ts";
import { type Exchange, isSuccess } from "./head.ts";

/** Takes the call's place in the queue of the rate limiter, once, for all its requests. */
export function enter(call: Call): Permit {
  const { maxConcurrency, rateLimiter, retry, tokenSource } = call.settings;
  const { endsAt, signal } = call.deadline;
  const [maxPauses, maxPauseMs] = retry ? [retry.rateLimitWaits, retry.maxRetryAfterMs] : [0, 0];
  const token = (): string => tokenSource.current;
  return askLimiter(call, () => {
    const permit = rateLimiter.enter({ token, maxConcurrency, maxPauses, maxPauseMs, endsAt, signal });
    // A promise is no permit: the call fails, and what the promise rejects with goes nowhere.
    ignoreErrors(() => permit);
    return permit;
  });
}

/** A token that was read, and what that has left of the attempt's `timeoutMs`. */
interface Read {
  readonly token: string;
  readonly leftMs: number;
}

/**
 * Sends a call until the service has processed it or failed: a 429 waits in the rate limiter, and a 401 is sent once more
 * if another token can be had; neither was processed by the service. Resolves with a success, and rejects with an error
 * of this library for everything else. Whether a failure may pass is decided above, in `retry.ts`.
 */
export async function attempt(call: Call, permit: Permit): Promise<Exchange> {
  let read = await readToken(call);
  for (;;) {
    const { token, leftMs } = await acquire(call, permit, read);
    const deadline = call.deadline.within(leftMs);
    const exchange = await performExchange(call, permit, { token, deadline }).finally(() => {
      deadline.release();
      // A response that has arrived is not lost to a rate limiter that fails.
      ignoreErrors(() => permit.release());
    });
    if (isSuccess(exchange.head.status)) return exchange;
    const next = await readToResend(call, exchange, token);
    if (next === undefined) throw refusalError(call, exchange);
    read = next;
  }
}

/**
 * The token to send a rejected request again with: after a 429 that is waited out, and after a 401 for a token that is not
 * the latest any more, or that its provider may replace.
 */
async function readToResend(call: Call, refused: Exchange, token: string): Promise<Read | undefined> {
  const { deadline, events, history, operation, settings } = call;
  const { retry, tokenSource } = settings;
  if (retry === false || deadline.reason === "total") return undefined;
  const { head, pause } = refused;
  const error = (): AutomationError => refusalError(call, refused);
  history.lastFailure = error;
  // A limiter that says of every pause that it waits must not make a 429 a loop.
  if (pause?.waits && history.pausesInARow <= retry.rateLimitWaits) {
    events?.retry({ reason: "rate_limit", delayMs: pause.pauseMs, status: 429 });
    return await readToken(call);
  }
  if (head.status !== 401) return undefined;
  const isFirst = history.unauthorized === undefined;
  history.unauthorized = { token, error };
  events?.enter("token");
  if (operation.adopts) {
    // It must not wait for rotations, since it is one of them.
    if (tokenSource.current === token) return undefined;
  } else {
    try {
      if (!(await deadline.race(tokenSource.renew(token, isFirst)))) return undefined;
    } catch {
      throw stoppedError(call, { deadline, phase: "total" });
    }
  }
  const other = await readToken(call);
  events?.retry({ reason: "unauthorized", delayMs: 0, status: 401 });
  events?.emit({ type: "token_refresh" });
  return other;
}

/**
 * Waits until a request may be sent, at the gate of the token that was read. Resolves with the token to send: after a wait
 * it is read again, and the call moves to the gate of another one, where it keeps its place. A rotation that is due is sent
 * in the place of the admitted request.
 */
async function acquire(call: Call, permit: Permit, first: Read): Promise<Read> {
  const { deadline, events, settings } = call;
  let read = first;
  for (let round = 1; ; round += 1) {
    let renewal: Promise<string> | undefined;
    events?.enter("queue");
    const { token } = read;
    const asked = askLimiter(call, () => {
      const reply = permit.acquire(token);
      return "kind" in reply ? reply : wait(call, token, reply);
    });
    // A call that is admitted at once does not wait a turn.
    const admission = "kind" in asked ? asked : await asked;
    if (admission.kind === "refused") {
      throw pausedError(call, admission.pauseMs, snapshotOf(settings.rateLimiter, token));
    }
    try {
      if (admission.kind === "stopped" || deadline.reason !== undefined) {
        throw stoppedError(call, { deadline, phase: "queue" });
      }
      const isMoved = admission.kind === "moved";
      if (!isMoved) events?.resume(token);
      if (!isMoved && !admission.waited) {
        renewal = settings.tokenSource.rotation?.(permit);
        if (renewal === undefined) return read;
      }
      read = await readToken(call, renewal, isMoved);
      // A rotation takes four rounds. A rate limiter of the caller's own may ask for rounds without end: timers and signals
      // must still come through.
      if (round > 4) await platformTurn();
    } catch (error) {
      // A rotation that was begun with the permit goes on when the call has left.
      void ignoreErrors(() => Promise.resolve(renewal).finally(() => permit.release()));
      throw error;
    }
  }
}

/** Asks the rate limiter, which may be the caller's own: what it throws ends the call, and nothing was sent. */
function askLimiter<Reply>(call: Call, ask: () => Reply): Reply {
  try {
    return ask();
  } catch (error) {
    throw limiterError(call, error);
  }
}

/** Waits in the queue. Meanwhile the rate limiter learns when the token changes. */
async function wait(call: Call, token: string, pending: Promise<Admission>): Promise<Admission> {
  const { rateLimiter, tokenSource } = call.settings;
  // The pause may be one that another client or process was asked for.
  call.events?.pause(token, pauseLeft(rateLimiter, token));
  const unsubscribe = tokenSource.subscribe(rateLimiter);
  try {
    // A limiter of the caller's own may not heed the signal.
    return expectType(await call.deadline.race(pending), "an admission", RECORD);
  } catch (error) {
    if (error !== STOPPED) throw limiterError(call, error);
    return { kind: "stopped" };
  } finally {
    unsubscribe();
  }
}

/**
 * The token to send now: the latest, or that of a renewal. Fails with the 401 that the call was answered if there is still
 * no other token.
 */
async function readToken(call: Call, renewal?: Promise<string>, isMoved?: boolean): Promise<Read> {
  const { events, history, settings } = call;
  const { unauthorized } = history;
  const { timeoutMs, tokenSource } = settings;
  events?.enter("token");
  const request = renewal ? () => renewal : tokenSource.read?.(unauthorized?.token, isMoved);
  const read = request ? await requestToken(call, request) : { token: tokenSource.current, leftMs: timeoutMs };
  if (read.token === unauthorized?.token) throw unauthorized.error();
  if (call.exposes(read.token)) {
    const what = "the path or the query holds a token, which URLs must not: pass the id of its record";
    throw buildError(ArgumentError, call, { what });
  }
  return read;
}

async function requestToken(call: Call, request: RequestToken): Promise<Read> {
  const limit = call.deadline.within(call.settings.timeoutMs);
  try {
    const token = await limit.race(request(limit.signal));
    return { token, leftMs: limit.leftMs };
  } catch (error) {
    if (error === STOPPED) throw stoppedError(call, { deadline: limit, phase: "token" });
    const { message, cause } = error as TokenUnavailable; // it rejects with nothing else
    throw buildError(TokenProviderError, call, { what: message, thrown: cause });
  } finally {
    limit.release();
  }
}
