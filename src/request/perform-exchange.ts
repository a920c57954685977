import type { TimeoutPhase } from "../errors/automation-error.ts";
import { readBriefly, readText } from "./body.ts";
import type { Call } from "./call.ts";
import { classifyFault } from "./connection-fault.ts";
import { type Deadline, STOPPED } from "./deadline.ts";
import { type Exchange, isSuccess, type ResponseHead } from "./exchange.ts";
import { HttpFailure } from "./http.ts";
import type { CallOptions } from "./operation.ts";
import { readRateLimit } from "./response-headers.ts";

/** Sends the request and reads the response. Never rejects for what the service, the connection or the caller did. */
export async function performExchange(call: Call, token: string, deadline: Deadline): Promise<Exchange> {
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
