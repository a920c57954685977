import { flawOfToken } from "../auth/token-format.ts";
import { now } from "../clock.ts";
import type { Turn } from "../rate-limit/rate-limiter.ts";
import { BodyTooLarge, type PartialText, readBriefly, readText } from "./body.ts";
import { Budget, Stopped } from "./budget.ts";
import type { Call } from "./call.ts";
import { disconnected, heldBack, providerFailed, refused, stopped, unparsable } from "./failure.ts";
import { readRateLimit } from "./rate-limit-headers.ts";
import { dispatch, TransportFailure } from "./transport.ts";

/**
 * One exchange with the service: a slot of the rate limiter, the token, the request, the answer's body. Resolves with
 * the text of a 2xx answer, and rejects with one of our errors for everything else.
 */
export async function attempt(call: Call): Promise<string | undefined> {
  call.begin("queue");
  call.tries += 1;
  const queuedAt = now();
  const turn = call.takeTurn();
  for (;;) {
    await waitInLine(call, turn);
    // The token provider's time is part of the budget, the queue's is not.
    const budget = Budget.ofAttempt(call.timeoutMs, call.budget);
    try {
      const admittedAt = now();
      const token = await readToken(call, budget);
      if (turn.confirm(token)) return await sendWith(call, { turn, token, budget, queuedAt, admittedAt });
      call.begin("queue");
    } finally {
      budget.release();
      turn.release();
    }
  }
}

interface Admitted {
  readonly turn: Turn;
  readonly token: string;
  readonly budget: Budget;
  readonly queuedAt: number;
  readonly admittedAt: number;
}

async function sendWith(
  call: Call,
  { turn, token, budget, queuedAt, admittedAt }: Admitted,
): Promise<string | undefined> {
  const sentAt = now();
  const spent = { queueMs: admittedAt - queuedAt, tokenMs: sentAt - admittedAt };
  const response = await exchange(call, { turn, token, budget, spent });
  const answeredAt = now();
  const text = await receive(call, response, budget);
  const spentOnAnswer = { headersMs: answeredAt - sentAt, bodyMs: now() - answeredAt };
  call.emit({ type: "response", status: response.status, ...spent, ...spentOnAnswer });
  // An abort that comes when a success has been read changes nothing any more.
  if (response.ok) return text;
  throw call.budget.reason === "abort" ? stopped(call) : refused(call, response, text);
}

async function waitInLine(call: Call, turn: Turn): Promise<void> {
  const admission = await turn.admission();
  if (admission.kind === "refused") throw heldBack(call, admission.pauseMs);
  if (admission.kind === "admitted" && call.budget.reason === undefined) return call.noteResume();
  if (admission.kind === "admitted") turn.release();
  throw stopped(call);
}

async function readToken(call: Call, budget: Budget): Promise<string> {
  call.begin("token");
  const token = await askCredential(call, budget);
  const flaw = flawOfToken(token);
  if (flaw !== undefined) throw providerFailed(call, { flaw });
  // There is no other token after all, so the 401 stands.
  if (token === call.unauthorized?.token) throw call.unauthorized.error;
  call.token = token;
  call.tokens.add(token);
  return token;
}

async function askCredential(call: Call, budget: Budget): Promise<string> {
  try {
    const token = call.pipeline.credential.read(budget.signal, call.unauthorized?.token);
    return typeof token === "string" ? token : await budget.race(token);
  } catch (cause) {
    throw cause instanceof Stopped ? stopped(call) : providerFailed(call, { cause });
  }
}

interface Exchange {
  readonly turn: Turn;
  readonly token: string;
  readonly budget: Budget;
  readonly spent: { readonly queueMs: number; readonly tokenMs: number };
}

/** Sends the request; resolves at the head of the answer, which the rate limiter is told at once. */
async function exchange(call: Call, { turn, token, budget, spent }: Exchange): Promise<Response> {
  const { operation, pipeline } = call;
  if (call.renewing) {
    call.renewing = false;
    call.emit({ type: "retry", reason: "unauthorized", delayMs: 0, status: 401 });
    call.emit({ type: "token_refresh" });
  }
  call.begin("headers");
  call.attempts += 1;
  call.sent = true;
  call.emit({ type: "request", method: operation.method, path: operation.path.template, ...spent });
  const sending = dispatch({
    url: call.url,
    method: operation.method,
    headers: headersOf(call, token),
    body: operation.body,
    signal: budget.signal,
    fetch: pipeline.fetch,
  });
  try {
    const response = await budget.race(sending);
    call.answered(response);
    call.pauseMs = turn.answered(readRateLimit(response)) ?? 0;
    if (response.status === 429) call.notePause(call.pauseMs);
    return response;
  } catch (error) {
    if (error instanceof Stopped) {
      // A `fetch` that does not heed the signal may answer yet.
      sending.then((late) => late.body?.cancel()).catch(() => {});
      throw stopped(call);
    }
    throw disconnected(call, error instanceof TransportFailure ? error : { cause: error, isNetwork: false });
  }
}

function headersOf(call: Call, token: string): Record<string, string> {
  const contentType = call.operation.body === undefined ? {} : { "content-type": "application/json" };
  return { ...contentType, ...call.headers, authorization: `Bearer ${token}` };
}

/** Reads the body, as far as the answer's status and the operation make it matter. */
async function receive(call: Call, response: Response, budget: Budget): Promise<string | undefined> {
  call.begin("body");
  const { answer } = call.operation;
  if (!response.ok || answer === "none") return await readBriefly(response, budget);
  const partial: PartialText = { text: "" };
  try {
    return await readText(response, budget, partial);
  } catch (error) {
    // A DELETE has done its work by its status.
    if (answer === "json_if_any") return undefined;
    if (error instanceof Stopped) throw stopped(call, partial.text);
    if (error instanceof BodyTooLarge) throw unparsable(call, "a body of more than 64 MiB", undefined);
    throw disconnected(call, { cause: error, isNetwork: true }, partial.text);
  }
}
