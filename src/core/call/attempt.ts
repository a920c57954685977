import { ignoreErrors } from "../checks/ignore-errors.ts";
import { describeValue } from "../checks/values.ts";
import { AbortError, ArgumentError } from "../errors/classes.ts";
import { LONG_WAIT_MS } from "../events.ts";
import { type Admission, type Permit, pauseLeftMs } from "../rate-limit/rate-limiter.ts";
import { after, now } from "../time/clock.ts";
import { type Deadline, STOPPED } from "../time/deadline.ts";
import { isSuccess } from "../wire/head.ts";
import type { Call, Received, Unauthorized } from "./call.ts";
import type { CallOptions } from "./call-options.ts";
import { buildError, pausedError, refusalError, stoppedError } from "./create-error.ts";
import { performExchange } from "./exchange.ts";
import { rotatesToken } from "./operation.ts";

export function takePosition(call: Call): Permit {
  const { baseUrl: service, maxConcurrency, rateLimiter, retry, timeoutMs } = call.settings;
  const { endsAt, signal } = call.deadline;
  const [maxPauses, maxPauseMs] = retry ? [retry.rateLimitWaits, retry.maxRetryAfterMs] : [0, 0];
  return rateLimiter.enter({ service, maxConcurrency, maxPauses, maxPauseMs, endsAt, timeoutMs, signal });
}

type OnRequest = NonNullable<CallOptions["onRequest"]>;

/** A token for the next request, and the rest of the attempt's `timeoutMs`, against which the queue does not count. */
interface ReadToken {
  readonly token: string;
  readonly leftMs: number;
}

/**
 * Sends a call until the service has processed it or failed: a 429 waits in the rate limiter, and a 401 is sent once more
 * if another token can be had; the service processed neither. Resolves with a success, and rejects with an error of this
 * library for everything else. Whether a failure may pass is decided above, in `retry.ts`.
 */
export async function attempt(call: Call, permit: Permit): Promise<Received> {
  let read = await readToken(call);
  for (;;) {
    const { onRequest } = call.settings;
    if (onRequest !== undefined) read = await awaitOnRequest(call, read, onRequest);
    const { token, received } = await sendInTurn(call, permit, read);
    if (isSuccess(received.head.status)) return received;
    read = await readToResend(call, received, token);
  }
}

/**
 * The token to send a refused request again with: after a 429 that is waited out, and after a 401 with another token. Fails with
 * the refusal of any other.
 */
async function readToResend(call: Call, refused: Received, token: string): Promise<ReadToken> {
  const { deadline, events, settings } = call;
  const { retry } = settings;
  const error = refusalError(call, refused);
  // The caller's abort ends the next wait with an error of its own. Nothing was processed, so a resend adds no doubt (`again`).
  if (retry === false || deadline.reason === "total") throw error;
  call.lastFailure = error;
  if (refused.pause?.waits) {
    events?.retry({ reason: "rate_limit", delayMs: refused.pause.pauseMs, status: 429 });
    return await readToken(call);
  }
  if (refused.head.status !== 401) throw error;
  const other = await readToken(call, { token, error });
  events?.retry({ reason: "unauthorized", delayMs: 0, status: 401 });
  events?.emit({ type: "token_refresh" });
  return other;
}

/**
 * The token to send, while the call holds nothing that others wait for. `rejected`: the service has just answered 401 to
 * it. Fails with that 401 if there is no other token.
 */
async function readToken(call: Call, rejected?: Unauthorized): Promise<ReadToken> {
  const { deadline, events, operation, settings } = call;
  const { timeoutMs, tokenSource } = settings;
  const earlier = call.unauthorized;
  call.unauthorized = rejected ?? earlier;
  let limit: Deadline | undefined;
  events?.enterStage("token");
  try {
    const token = await tokenSource.tokenFor({
      rejected: rejected?.token,
      rejectedBefore: earlier?.token,
      isRotation: rotatesToken(operation),
      isPaused: (one) => pauseLeftMs(settings, one) !== undefined,
      inTime: (work) => {
        limit ??= deadline.within(timeoutMs);
        return limit.race(work(limit));
      },
    });
    if (deadline.reason !== undefined) throw STOPPED;
    return { token: usableToken(call, token), leftMs: leftForRequest(call, limit) };
  } catch (error) {
    throw error === STOPPED ? stoppedError(call, { deadline: limit ?? deadline, phase: "token" }) : error;
  } finally {
    limit?.release();
  }
}

/** A request whose preparation came after its time, as when the process stood still, gets a whole `timeoutMs`. */
function leftForRequest({ settings }: Call, preparation: Deadline | undefined): number {
  const leftMs = preparation?.leftMs ?? 0;
  return leftMs > 0 ? leftMs : settings.timeoutMs;
}

function usableToken(call: Call, token: string): string {
  const { unauthorized } = call;
  if (token === unauthorized?.token) throw unauthorized.error;
  if (!call.urlContainsSecret(token)) return token;
  const summary = "the path or the query holds a token, which URLs must not: pass the id of its record";
  throw buildError(ArgumentError, call, { summary });
}

/** Awaits the caller's `onRequest` before the queue: a call that it makes by the same client waits for no slot of this one. */
async function awaitOnRequest(call: Call, { token, leftMs }: ReadToken, onRequest: OnRequest): Promise<ReadToken> {
  call.events?.enterStage("queue");
  const deadline = call.deadline.within(leftMs);
  try {
    await inTime(call, runOnRequest(call, onRequest), deadline);
    return { token, leftMs: leftForRequest(call, deadline) };
  } finally {
    deadline.release();
  }
}

async function runOnRequest(call: Call, onRequest: OnRequest): Promise<void> {
  const request = { attempt: call.requests + 1, callId: call.id, operation: call.operation.name };
  let returned: unknown;
  try {
    returned = await onRequest(request);
  } catch (cause) {
    const summary = "onRequest failed, so the request was not sent";
    throw buildError(AbortError, call, { summary, thrown: cause });
  }
  if (returned === undefined) return;
  const summary = `onRequest must return nothing, not ${describeValue(returned)}: throw to stop the request`;
  throw buildError(ArgumentError, call, { summary });
}

async function inTime(call: Call, ready: Promise<void>, deadline: Deadline): Promise<void> {
  try {
    await deadline.race(ready);
  } catch (error) {
    throw error === STOPPED ? stoppedError(call, { deadline, phase: "queue" }) : error;
  }
}

/**
 * Sends the request when its turn has come, with the token that is current when it leaves. If another token has come
 * meanwhile, or the token is paused, the call goes back to the queue, at its position.
 */
async function sendInTurn(call: Call, permit: Permit, read: ReadToken): Promise<{ token: string; received: Received }> {
  const { inner, settings } = call;
  const { tokenSource } = settings;
  let recorded: string | undefined;
  for (;;) {
    const { token, leftMs } = await acquire(call, permit, read);
    const deadline = call.deadline.within(leftMs);
    try {
      if (inner?.beforeRequest !== undefined && token !== recorded) {
        await inTime(call, inner.beforeRequest(token), deadline);
        recorded = token;
        if (pauseLeftMs(settings, token) !== undefined) continue;
      }
      if (!tokenSource.isCurrent(token)) continue;
      const received = await performExchange(call, permit, { token, deadline });
      if (received !== undefined) return { token, received };
    } finally {
      deadline.release();
      ignoreErrors(() => permit.release());
    }
  }
}

/**
 * Waits until a request may be sent, in the queue of the token that was read. If a token that the client holds changes, the
 * call leaves that queue and joins the queue of the new one, at its position.
 */
async function acquire(call: Call, permit: Permit, { token: first, leftMs }: ReadToken): Promise<ReadToken> {
  const { deadline, events, settings } = call;
  const { baseUrl, rateLimiter, tokenSource } = settings;
  for (let token = first; ; ) {
    if (!tokenSource.isCurrent(token)) token = usableToken(call, tokenSource.current);
    events?.enterStage("queue");
    const asked = permit.acquire(token);
    const admission = "kind" in asked ? asked : await admittedOrChanged(call, token, asked);
    // The call may be stopped, or its token changed, also in the turn in which it was admitted.
    const isStopped = deadline.reason !== undefined || admission?.kind === "stopped";
    const isChanged = !tokenSource.isCurrent(token);
    if (admission?.kind === "admitted" && !isStopped && !isChanged) {
      events?.resume(token);
      return { token, leftMs };
    }
    permit.release();
    if (isStopped) throw stoppedError(call, { deadline, phase: "queue" });
    if (admission?.kind === "refused" && !isChanged) {
      throw pausedError(call, admission.pauseMs, rateLimiter.snapshot(token, baseUrl));
    }
  }
}

async function admittedOrChanged(
  call: Call,
  token: string,
  pending: Promise<Admission>,
): Promise<Admission | undefined> {
  const { tokenSource } = call.settings;
  const stopTelling = tellPauses(call, token);
  let unsubscribe = (): void => {};
  const changed = new Promise<undefined>((resolve) => {
    unsubscribe = tokenSource.subscribe(() => tokenSource.isCurrent(token) || resolve(undefined));
  });
  try {
    return await Promise.race([pending, changed]);
  } finally {
    stopTelling();
    unsubscribe();
  }
}

/** The time between two looks for a pause that another client or process was asked for. */
const LOOK_EVERY_MS = 1_000;

/** Emits the pause that a call waits for, also one that begins while it waits, and a long wait. Returns what ends that. */
function tellPauses({ events, settings }: Call, token: string): () => void {
  let cancel = (): void => {};
  let queuedSince = now();
  const look = (): void => {
    const pauseMs = pauseLeftMs(settings, token);
    events?.pause(token, pauseMs);
    // A long pause has its own event, so the wait in the queue counts from the end of the pause.
    if (Number(pauseMs) >= LONG_WAIT_MS) queuedSince = now() + Number(pauseMs);
    events?.queueWait(now() - queuedSince);
    cancel = after(LOOK_EVERY_MS, look);
  };
  if (events !== undefined) look();
  return () => cancel();
}
