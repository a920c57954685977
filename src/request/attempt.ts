import { flawOfToken } from "../auth/token-format.ts";
import type { Admission } from "../rate-limit/rate-limiter.ts";
import { BodyTooLarge, type PartialText, readBriefly, readText } from "./body.ts";
import type { Call } from "./call.ts";
import {
  disconnected,
  heldBack,
  preventedByCaller,
  providerFailed,
  refused,
  stopped,
  unparsable,
} from "./create-error.ts";
import { Deadline, STOPPED } from "./deadline.ts";
import { dispatch, TransportFailure } from "./http.ts";
import { readRateLimit } from "./rate-limit-headers.ts";

/**
 * One exchange with the service: a slot of the rate limiter, the token, the request, the answer's body. Resolves with
 * the text of a 2xx answer, and rejects with one of our errors for everything else.
 */
export async function attempt(call: Call): Promise<string | undefined> {
  const { turn, report } = call;
  report?.begin();
  for (;;) {
    call.enter("queue");
    const admission = turn.acquire();
    if (!("kind" in admission)) tellPause(call);
    pass(call, "kind" in admission ? admission : await admission);
    // The token provider's time is part of the budget, the queue's is not.
    const budget = Deadline.within(call.budget, call.timeoutMs);
    try {
      call.enter("token");
      const read = readToken(call, budget);
      const token = typeof read === "string" ? read : await read;
      const confirmed = turn.confirm(token);
      const goes = typeof confirmed === "boolean" ? confirmed : await inTime(call, confirmed, budget);
      if (goes) return await exchange(call, token, budget);
    } finally {
      budget.release();
      turn.release();
    }
  }
}

/** A rate limiter that asks others may take a while, in which nothing is sent. */
async function inTime(call: Call, confirmed: Promise<boolean>, budget: Deadline): Promise<boolean> {
  call.enter("queue");
  try {
    return await budget.race(confirmed);
  } catch (error) {
    throw error === STOPPED ? stopped(call) : error;
  }
}

/** A call that waits tells its own listeners of the pause it waits for, in its own context. */
function tellPause({ pipeline, report }: Call): void {
  const { pausedUntil } = pipeline.rateLimiter.snapshot(pipeline.credential.current) ?? {};
  if (pausedUntil !== undefined) report?.pause(Math.max(0, pausedUntil.getTime() - Date.now()));
}

/** Lets an attempt go on that has been admitted in time. */
function pass(call: Call, admission: Admission): void {
  if (admission.kind === "refused") throw heldBack(call, admission.pauseMs);
  if (admission.kind === "stopped") throw stopped(call);
  if (call.budget.reason !== undefined) {
    call.turn.release();
    throw stopped(call);
  }
  call.report?.resume();
}

function readToken(call: Call, budget: Deadline): string | Promise<string> {
  const { credential } = call.pipeline;
  const token = credential.read(budget.signal, call.progress.unauthorized?.token);
  return typeof token === "string" ? accept(call, token) : awaitToken(call, token, budget);
}

async function awaitToken(call: Call, promise: Promise<string>, budget: Deadline): Promise<string> {
  let token: string;
  try {
    token = await budget.race(promise);
  } catch (cause) {
    throw cause === STOPPED ? stopped(call) : providerFailed(call, { cause });
  }
  const flaw = flawOfToken(token);
  if (flaw !== undefined) throw providerFailed(call, { flaw });
  return accept(call, token);
}

function accept(call: Call, token: string): string {
  const { unauthorized, tokens } = call.progress;
  // There is no other token after all, so the 401 stands.
  if (token === unauthorized?.token) throw unauthorized.error;
  if (token !== call.progress.token) tokens.push(token);
  return token;
}

async function exchange(call: Call, token: string, budget: Deadline): Promise<string | undefined> {
  const response = await send(call, token, budget);
  call.enter("body");
  const text = await receive(call, response, budget);
  call.report?.response(response.status);
  // An abort that comes when a success has been read changes nothing any more.
  if (response.ok) return text;
  throw call.budget.reason === "abort" ? stopped(call) : refused(call, response, text);
}

/** Sends the request; resolves at the head of the answer, which the rate limiter is told at once. */
async function send(call: Call, token: string, budget: Deadline): Promise<Response> {
  const { progress, report, turn } = call;
  if (progress.renewing) {
    progress.renewing = false;
    report?.retry("unauthorized", 0, 401);
    report?.emit({ type: "token_refresh" });
  }
  call.enter("headers");
  report?.request();
  // Whoever was told of it may have aborted it.
  if (budget.reason !== undefined) throw stopped(call);
  await prepare(call, budget);
  progress.requests += 1;
  progress.sent = true;
  const dispatched = (): Promise<Response> => dispatch(call, token, budget.signal);
  const sending = report === undefined ? dispatched() : report.send(dispatched);
  try {
    const response = await budget.race(sending);
    progress.response = response;
    progress.latestResponse = response;
    const limits = readRateLimit(response);
    report?.head(response.headers, limits);
    progress.pauseMs = turn.report(limits) ?? 0;
    if (response.status === 429) report?.pause(progress.pauseMs);
    return response;
  } catch (error) {
    if (error === STOPPED) {
      // A `fetch` that does not heed the signal may answer yet.
      sending.then((late) => late.body?.cancel()).catch(() => {});
      throw stopped(call);
    }
    throw disconnected(call, error instanceof TransportFailure ? error : { cause: error, isNetwork: false });
  }
}

/** Awaits the caller's `onRequest`: what it fails with ends the call before anything is sent. */
async function prepare(call: Call, budget: Deadline): Promise<void> {
  const { onRequest, progress, operation } = call;
  if (onRequest === undefined) return;
  const request = { attempt: progress.requests + 1, callId: call.callId, operation: operation.name };
  try {
    await budget.race(Promise.resolve(onRequest(request)));
  } catch (cause) {
    throw cause === STOPPED ? stopped(call) : preventedByCaller(call, cause);
  }
}

/** Reads the body, as far as the answer's status and the operation make it matter. */
async function receive(call: Call, response: Response, budget: Deadline): Promise<string | undefined> {
  const { answer } = call.operation;
  if (!response.ok || answer === "none") return await readBriefly(response, budget);
  const partial: PartialText = { text: "" };
  try {
    return await readText(response, budget, partial);
  } catch (error) {
    // A DELETE has done its work by its status.
    if (answer === "json_if_any") return undefined;
    if (error === STOPPED) throw stopped(call, partial.text);
    if (error instanceof BodyTooLarge) throw unparsable(call, "a body of more than 64 MiB", undefined);
    throw disconnected(call, { cause: error, isNetwork: true }, partial.text);
  }
}
