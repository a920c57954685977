import { flawOfToken } from "../auth/token-format.ts";
import { TokenUnavailable } from "../auth/token-source.ts";
import { RateLimitError } from "../errors/api-errors.ts";
import type { AutomationError, TimeoutPhase } from "../errors/automation-error.ts";
import { readBriefly, readText } from "./body.ts";
import type { Call } from "./call.ts";
import { classifyFault } from "./connection-fault.ts";
import { exchangeError, pausedError, stoppedError, tokenError } from "./create-error.ts";
import { type Deadline, STOPPED } from "./deadline.ts";
import { type Exchange, isSuccess, type Received, type ResponseHead } from "./exchange.ts";
import { HttpFailure } from "./http.ts";
import type { CallOptions } from "./operation.ts";
import { readRateLimit } from "./response-headers.ts";

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
    return await exchange(call, token, deadline);
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
  const { permit, deadline, events, history, pipeline } = call;
  events?.enter("queue");
  const { tokenSource } = pipeline;
  const mayHaveAnother = tokenSource.canReplace(tokenSource.current) && pauseOf(call) !== undefined;
  const asked = mayHaveAnother ? await askAgain(call) : undefined;
  const pending = permit.acquire();
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
  const isCurrent = isImmediate && asked === tokenSource.current;
  return isCurrent && asked !== history.unauthorized?.token ? asked : undefined;
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

/** Sends the request and reads the response. Never rejects for what the service, the connection or the caller did. */
async function exchange(call: Call, token: string, deadline: Deadline): Promise<Exchange> {
  const { events, history, pipeline, operation, settings } = call;
  if (settings.onRequest !== undefined) {
    const prevented = await runOnRequest(call, settings.onRequest, deadline);
    if (prevented !== undefined) return prevented;
  }
  events?.request();
  // A listener may have aborted the call.
  if (deadline.reason !== undefined) return stop(deadline, "queue", { isSent: false });
  history.requests += 1;
  const { url } = call;
  const { method, body } = operation;
  const headers = { ...events?.headers(), ...(body === undefined ? {} : JSON_BODY), ...settings.headers };
  const post = (): Promise<Response> => pipeline.http({ url, method, headers, body, token, signal: deadline.signal });
  const sending = events === undefined ? post() : events.send(post);
  try {
    return await receive(call, await deadline.race(sending), deadline);
  } catch (error) {
    if (error === STOPPED) {
      // A `fetch` that does not heed the signal may respond later.
      sending.then((late) => late.body?.cancel()).catch(() => {});
      return stop(deadline, "headers", { isSent: true });
    }
    const { cause, isNetwork, isSent } = error instanceof HttpFailure ? error : new HttpFailure(error, false, true);
    const fault = classifyFault(cause, isNetwork);
    return { kind: "failed", fault: isSent ? fault : { ...fault, fault: "permanent", notSent: true }, cause };
  }
}

const JSON_BODY = { "content-type": "application/json" };

/** Awaits the caller's `onRequest`, with nothing left to do before the request but to send it. */
async function runOnRequest(
  call: Call,
  onRequest: NonNullable<CallOptions["onRequest"]>,
  deadline: Deadline,
): Promise<Exchange | undefined> {
  const request = { attempt: call.history.requests + 1, callId: call.id, operation: call.operation.name };
  try {
    await deadline.race(Promise.resolve(onRequest(request)));
    return undefined;
  } catch (cause) {
    return cause === STOPPED ? stop(deadline, "queue", { isSent: false }) : { kind: "prevented", cause };
  }
}

/** Tells the rate limiter what the head of the response says, then reads the body as far as it matters. */
async function receive(call: Call, response: Response, deadline: Deadline): Promise<Exchange> {
  const { events, history, operation, permit, pipeline } = call;
  const { status, headers, type } = response;
  const head: ResponseHead = {
    status,
    headers,
    isRedirect: type === "opaqueredirect" || (status >= 300 && status < 400),
  };
  history.latestResponse = head;
  const limits = readRateLimit(head);
  events?.head(head, limits, () => call.facts.redactor);
  const pauseMs = permit.report(limits);
  events?.pause(pauseMs);
  events?.enter("body");
  if (!isSuccess(status) || operation.answer === "none") {
    const text = await readBriefly(response, deadline);
    events?.response(status);
    // An abort that comes when a success has been received changes nothing any more.
    const isAborted = deadline.reason === "abort" && !isSuccess(status);
    return isAborted ? stop(deadline, "body", { isSent: true, head }) : { kind: "received", head, text, pauseMs };
  }
  const body = await readText(response, deadline, pipeline.maxResponseBytes);
  // A DELETE has done its work by its status.
  if (body.kind !== "whole" && operation.answer === "json_if_any") return { kind: "received", head, text: undefined };
  if (body.kind === "stopped") return stop(deadline, "body", { isSent: true, head, text: body.text });
  if (body.kind === "cut") return { ...body, head };
  events?.response(status);
  return body.kind === "oversized" ? { kind: "oversized", head } : { kind: "received", head, text: body.text };
}

type Reached = Pick<Extract<Exchange, { kind: "stopped" }>, "isSent" | "head" | "text">;

function stop(deadline: Deadline, phase: TimeoutPhase, reached: Reached): Extract<Exchange, { kind: "stopped" }> {
  return { kind: "stopped", reason: deadline.reason ?? "attempt", phase, ...reached };
}

/** The call was stopped before a request was sent. */
function stopped(call: Call, deadline: Deadline, phase: TimeoutPhase): AutomationError {
  return stoppedError(call.facts, stop(deadline, phase, { isSent: false }), call.settings.signal);
}

function latestOf(tokens: ReadonlySet<string>): string {
  return [...tokens].at(-1) ?? "";
}
