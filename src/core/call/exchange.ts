import { ignoreErrors } from "../checks/ignore-errors.ts";
import type { AutomationError } from "../errors/automation-error.ts";
import { classifyFault } from "../errors/connection-fault.ts";
import type { Permit } from "../rate-limit/rate-limiter.ts";
import { type Deadline, STOPPED } from "../time/deadline.ts";
import { readBody, readBriefly, readRefusal } from "../wire/body.ts";
import { isSuccess, parseHead, type ResponseHead } from "../wire/head.ts";
import { isWrite } from "../wire/method.ts";
import type { Call, Received } from "./call.ts";
import { connectionError, parseError, stoppedError } from "./create-error.ts";
import { HttpFailure } from "./http.ts";
import { beginsAsJson, isRefusalOfService, isSuccessOfService } from "./outcome.ts";

interface Sending {
  readonly token: string;
  readonly deadline: Deadline;
}

/**
 * Sends the request and reads the response. Rejects with the error of the call if no response came, or not all of a success.
 * `undefined`: nothing was sent, since another token has come.
 */
export async function performExchange(call: Call, permit: Permit, sending: Sending): Promise<Received | undefined> {
  const { events } = call;
  const { token, deadline } = sending;
  // The time of the call may be over before its timer says so, and a listener may abort the call.
  if (!call.deadline.endsNow()) events?.request();
  if (deadline.reason !== undefined) throw stoppedError(call, { deadline, phase: "queue" });
  const answer = await sendRequest(call, sending);
  if (answer === undefined) return undefined;
  const { response, head } = answer;
  // Without the headers: a rate limiter of the caller's own may pass them on, to a log or another thread.
  const { status, limit, remaining, retryAfterMs } = head;
  // A limiter that throws must not lose a response that has arrived.
  const reported = ignoreErrors(() => permit.report({ status, limit, remaining, retryAfterMs }));
  // Whatever else pauses a token, only a request that was answered 429 was certainly not processed.
  const pause = status === 429 ? reported : undefined;
  call.latestResponse = head;
  events?.pause(token, pause?.pauseMs);
  events?.enterStage("body");
  try {
    const received = await receive(call, response, { head, pause, deadline });
    events?.response(head);
    return received;
  } catch (error) {
    events?.response(head, error as AutomationError); // it rejects with nothing else
    throw error;
  }
}

const HELD_BACK = Symbol("held back");

const JSON_BODY = { "content-type": "application/json" };

async function sendRequest(
  call: Call,
  { token, deadline }: Sending,
): Promise<{ readonly response: Response; readonly head: ResponseHead } | undefined> {
  const { events, fetch, operation, settings, url, body } = call;
  const { method } = operation;
  const headers = { ...events?.headers(), ...(body === undefined ? {} : JSON_BODY), ...settings.headers };
  const mayBeCached = !isWrite(method) && operation.isPoll !== true;
  const { signal } = deadline;
  let hasLeft = false;
  // Listeners and the turns of ky come between the slot and this moment.
  const leave = (): void => {
    if (deadline.endsNow() || !settings.tokenSource.isCurrent(token)) throw HELD_BACK;
    hasLeft = true;
    call.requests += 1;
    call.note("sent");
  };
  const send = (): Promise<Response> =>
    settings.http({ url, method, headers, body, token, signal, leave, fetch, mayBeCached });
  const sending = events === undefined ? send() : events.send(send);
  try {
    const response = await deadline.race(sending);
    if (method === "DELETE" && settings.platformMayRepeat) call.note("again");
    return { response, head: parseHead(response, url) };
  } catch (error) {
    if (error === STOPPED) {
      // A `fetch` that does not heed the signal may respond later.
      discard(sending);
      throw stoppedError(call, { deadline, phase: hasLeft ? "headers" : "queue" });
    }
    // A response of the application may throw when its head is read.
    const failure = error instanceof HttpFailure ? error : new HttpFailure(error, "sending");
    if (failure.cause === HELD_BACK) return undefined;
    if (failure.isUnsent) call.note("unsent");
    throw connectionError(call, classifyFault(failure, settings.baseUrl), failure);
  }
}

interface Begun extends Received {
  readonly deadline: Deadline;
}

async function receive(call: Call, response: Response, { head, pause, deadline }: Begun): Promise<Received> {
  if (!isSuccess(head.status)) {
    if (head.isFollowed) discard(response);
    const body = head.isFollowed ? undefined : await readRefusal(response, deadline);
    const isFromService = isRefusalOfService(body);
    call.note({ status: head.status, isFromService });
    const received = { head, body, pause, isFromService };
    if (call.deadline.reason === "abort")
      throw stoppedError(call, { deadline: call.deadline, phase: "body", ...received });
    return received;
  }
  const { operation, settings } = call;
  const { maxResponseBytes } = settings;
  const body =
    operation.expects === "nothing"
      ? await readBriefly(response, deadline, beginsAsJson)
      : await readBody(response, deadline, { maxBytes: maxResponseBytes });
  const { kind, text } = body;
  const isDue = operation.schema !== undefined && operation.method !== "DELETE";
  const isFromService = isSuccessOfService({ text, isWhole: kind === "whole" }, isDue);
  call.note({ status: head.status, isFromService });
  // Where no body matters, an abort or a cut that comes when a success has been received changes nothing any more.
  if (kind === "whole" || operation.expects !== undefined) return { head, text, isFromService };
  if (kind === "stopped") throw stoppedError(call, { deadline, phase: "body", head, text, isFromService });
  if (kind === "cut") {
    const fault = classifyFault({ cause: body.cause, stage: "reading" }, settings.baseUrl);
    throw connectionError(call, fault, { ...body, head, isFromService });
  }
  const summary = `a body that is larger than maxResponseBytes (${maxResponseBytes})`;
  throw parseError(call, { head, text, isFromService }, summary);
}

function discard(response: Response | Promise<Response>): void {
  Promise.resolve(response)
    .then(({ body }) => body?.cancel())
    .catch(() => {});
}
