import { flawOfToken } from "../auth/token-format.ts";
import { TokenUnavailable } from "../auth/token-source.ts";
import { RateLimitError } from "../errors/api-errors.ts";
import type { AutomationError, TimeoutPhase } from "../errors/automation-error.ts";
import type { Call } from "./call.ts";
import { exchangeError, pausedError, stoppedError, tokenError } from "./create-error.ts";
import { type Deadline, STOPPED } from "./deadline.ts";
import { type Exchange, isSuccess, type Received } from "./exchange.ts";
import { performExchange } from "./perform-exchange.ts";

/**
 * Sends a call until the service has processed it or failed: a 429 waits in the rate limiter, and a 401 is sent once more
 * if another token can be had; neither was processed by the service. Resolves with a success, and rejects with an error
 * of this library for everything else. Whether a failure may pass is decided above, in `retry.ts`.
 */
export async function attempt(call: Call): Promise<Received> {
  for (;;) {
    const exchange = await exchangeWithPermit(call);
    // The permit was for another token, or a pause began while the token was read.
    if (exchange === undefined) continue;
    if (exchange.kind === "received" && isSuccess(exchange.head.status)) return exchange;
    const error = exchangeError(call.facts, exchange, call.settings.signal);
    call.history.failed(exchange, error);
    call.events?.failed();
    if (!(await isResent(call, exchange, error))) throw error;
  }
}

/** Whether a rejected request is sent again at once: the rate limiter decides about a 429, the token source about a 401. */
async function isResent(call: Call, exchange: Exchange, error: AutomationError): Promise<boolean> {
  const { history, settings, operation, deadline, pipeline } = call;
  if (settings.retry === false || exchange.kind !== "received") return false;
  if (error.status === 429) {
    call.events?.planRetry({ reason: "rate_limit", delayMs: exchange.pauseMs ?? 0, status: 429 });
    return true;
  }
  if (error.status !== 401 || history.unauthorized !== undefined) return false;
  const token = latestOf(history.tokens);
  call.events?.enter("total");
  try {
    // A rotation must not wait for rotations, since it may be one of them.
    if (!operation.rotatesToken) await deadline.race(pipeline.tokenSource.settled(token));
  } catch {
    throw stopped(call, deadline, "total");
  }
  if (!pipeline.tokenSource.canReplace(token)) return false;
  history.unauthorized = { error, token };
  call.events?.planRetry({ reason: "unauthorized", delayMs: 0, status: 401 });
  return true;
}

/** One exchange with a permit of the rate limiter, or `undefined` if the permit does not hold for the call's token. */
async function exchangeWithPermit(call: Call): Promise<Exchange | undefined> {
  const asked = await acquire(call);
  // The time of the token source is part of the attempt, that of the queue is not.
  const deadline = call.deadline.within(call.settings.timeoutMs);
  try {
    call.events?.enter("token");
    const read = asked ?? readToken(call, deadline);
    const token = typeof read === "string" ? read : await read;
    const confirmed = call.permit.confirm(token);
    const holds = typeof confirmed === "boolean" ? confirmed : await awaitConfirmation(call, confirmed, deadline);
    if (!holds) return undefined;
    return await performExchange(call, token, deadline);
  } finally {
    deadline.release();
    call.permit.release();
  }
}

/**
 * Waits for the permit. Resolves with the token if the token source was asked for it just now: while the token that it
 * returned last is paused, it may have another one, and a pause is a fact about one token.
 */
async function acquire(call: Call): Promise<string | undefined> {
  const { permit, deadline, events, pipeline } = call;
  events?.enter("queue");
  const { tokenSource } = pipeline;
  const mayHaveAnother = tokenSource.canReplace(tokenSource.current) && pauseOf(call) !== undefined;
  const token = mayHaveAnother ? await askAgain(call) : undefined;
  const pending = permit.acquire(token);
  const isImmediate = "kind" in pending;
  if (!isImmediate) events?.pause(pauseOf(call));
  if (!isImmediate || pending.kind === "admitted") events?.retryPlanned("rate_limit");
  const admission = isImmediate ? pending : await pending;
  if (admission.kind === "refused") throw refusedByLimiter(call, admission.pauseMs);
  if (admission.kind === "stopped" || deadline.reason !== undefined) {
    if (admission.kind === "admitted") permit.release();
    throw stopped(call, deadline, "queue");
  }
  events?.resume();
  return isImmediate ? token : undefined;
}

/** What is left of the pause of the token that is known, in milliseconds. */
function pauseOf({ pipeline }: Call): number | undefined {
  const { pausedUntil } = pipeline.rateLimiter.snapshot(pipeline.tokenSource.current) ?? {};
  return pausedUntil === undefined ? undefined : Math.max(0, pausedUntil.getTime() - Date.now());
}

async function askAgain(call: Call): Promise<string> {
  const deadline = call.deadline.within(call.settings.timeoutMs);
  try {
    return await readToken(call, deadline);
  } finally {
    deadline.release();
    call.events?.enter("queue");
  }
}

/** A pause that the call does not wait for. Unless another call's response asked for it, the error is the call's own 429. */
function refusedByLimiter(call: Call, pauseMs: number): AutomationError {
  const { history, facts, pipeline, settings } = call;
  const { lastError } = history;
  const longestMs = settings.retry === false ? 0 : settings.retry.maxRetryAfterMs;
  if (!(lastError instanceof RateLimitError)) {
    return pausedError(facts, pauseMs, pipeline.rateLimiter.snapshot(pipeline.tokenSource.current));
  }
  return pauseMs <= Math.max(lastError.retryAfterMs ?? 0, longestMs)
    ? lastError
    : pausedError(facts, pauseMs, lastError);
}

/** The token to send now; a string at once, if the token source has it. */
function readToken(call: Call, deadline: Deadline): string | Promise<string> {
  const read = call.pipeline.tokenSource.read(deadline.signal, call.history.unauthorized?.token);
  return typeof read === "string" ? accept(call, read) : awaitToken(call, read, deadline);
}

async function awaitToken(call: Call, pending: Promise<string>, deadline: Deadline): Promise<string> {
  let token: string;
  try {
    token = await deadline.race(pending);
  } catch (cause) {
    if (cause === STOPPED) throw stopped(call, deadline, "token");
    throw cause instanceof TokenUnavailable
      ? tokenError(call.facts, cause.message, cause.cause)
      : tokenError(call.facts, "the token provider failed", cause);
  }
  const flaw = flawOfToken(token);
  if (flaw !== undefined) throw tokenError(call.facts, `the token provider returned no usable token: it ${flaw}`);
  return accept(call, token);
}

function accept({ history }: Call, token: string): string {
  // There is no other token after all, so the 401 stands.
  if (token === history.unauthorized?.token) throw history.unauthorized.error;
  history.tokens.delete(token);
  history.tokens.add(token);
  return token;
}

/** A rate limiter that asks others whether the permit holds for the token may take a while, in which nothing is sent. */
async function awaitConfirmation(call: Call, pending: Promise<boolean>, deadline: Deadline): Promise<boolean> {
  call.events?.enter("queue");
  try {
    return await deadline.race(pending);
  } catch (error) {
    throw error === STOPPED ? stopped(call, deadline, "queue") : error;
  }
}

/** The call was stopped before a request was sent. */
function stopped(call: Call, deadline: Deadline, phase: TimeoutPhase): AutomationError {
  return stoppedError(call.facts, { reason: deadline.reason ?? "attempt", phase, isSent: false }, call.settings.signal);
}

function latestOf(tokens: ReadonlySet<string>): string {
  return [...tokens].at(-1) ?? "";
}
