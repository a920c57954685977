import { ignoreErrors } from "../base/check.ts";
import { type Deadline, STOPPED } from "../base/deadline.ts";
import type { Permit, ReportedPause } from "../rate-limit/rate-limiter.ts";
import type { Call } from "./call.ts";
import { type Exchange, stopped } from "./exchange.ts";
import { HttpFailure } from "./http.ts";
import { isSuccess, type ResponseHead, readBody, readBriefly, readHead } from "./response.ts";
import type { CallOptions } from "./settings.ts";

/** What a request is sent with: a token, in the time that is left for it. */
interface Sending {
  readonly token: string;
  readonly deadline: Deadline;
}

/** Sends the request and reads the response. Never rejects for what the service, the connection or the caller did. */
export async function performExchange(call: Call, permit: Permit, { token, deadline }: Sending): Promise<Exchange> {
  const { client, events, operation, settings } = call;
  if (settings.onRequest !== undefined) {
    const prevented = await runOnRequest(call, settings.onRequest, deadline);
    if (prevented !== undefined) return prevented;
  }
  events?.request();
  // A listener may have aborted the call.
  if (deadline.reason !== undefined) return stopped(deadline, "queue");
  const { url, body } = call;
  const { method } = operation;
  const headers = { ...events?.headers(), ...(body === undefined ? {} : JSON_BODY), ...settings.headers };
  const post = (): Promise<Response> => client.http({ url, method, headers, body, token, signal: deadline.signal });
  const sending = events === undefined ? post() : events.send(post);
  try {
    const response = await deadline.race(sending);
    const head = readHead(response);
    // A response that has arrived is not lost to a rate limiter that fails.
    const pause = ignoreErrors(() => permit.report(head.limits));
    events?.head(head);
    events?.pause(token, pause?.pauseMs);
    events?.enter("body");
    const exchange = await receive(call, response, { head, pause, deadline });
    events?.response(exchange, head.limits);
    return exchange;
  } catch (error) {
    if (error === STOPPED) {
      // A `fetch` that does not heed the signal may respond later.
      sending.then((late) => late.body?.cancel()).catch(() => {});
      return stopped(deadline, "headers", { isSent: true });
    }
    const { cause, source } = error instanceof HttpFailure ? error : new HttpFailure(error, "application");
    return { kind: "failed", cause, source };
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
    return cause === STOPPED ? stopped(deadline, "queue") : { kind: "prevented", cause };
  }
}

/** What is known of a response before its body is read, and until when that may take. */
interface Begun {
  readonly head: ResponseHead;
  readonly pause: ReportedPause | undefined;
  readonly deadline: Deadline;
}

/** Reads the body as far as it matters. */
async function receive(call: Call, response: Response, { head, pause, deadline }: Begun): Promise<Exchange> {
  const { expects } = call.operation;
  if (!isSuccess(head.status)) {
    const body = await readBriefly(response, deadline);
    if (deadline.reason === "abort") return stopped(deadline, "body", { isSent: true, head });
    return { kind: "refused", head, body, pause };
  }
  if (expects === "nothing") {
    // An abort that comes when a success has been received changes nothing any more.
    await readBriefly(response, deadline);
    return { kind: "received", head, text: undefined };
  }
  const body = await readBody(response, deadline, { maxBytes: call.client.maxResponseBytes });
  // A DELETE has done its work by its status.
  if (body.kind !== "whole" && expects === "json_if_any") return { kind: "received", head, text: undefined };
  if (body.kind === "stopped") return stopped(deadline, "body", { isSent: true, head, text: body.text });
  if (body.kind === "whole") return { kind: "received", head, text: body.text };
  if (body.kind === "oversized") return { kind: "oversized", head };
  return { ...body, kind: "failed", source: "response", head };
}
