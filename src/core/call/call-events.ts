import type { AutomationError, TimeoutPhase } from "../errors/automation-error.ts";
import type { AnyAutomationError } from "../errors/classes.ts";
import {
  type ClientEvent,
  type Durations,
  type EndEvent,
  type EventFields,
  LONG_WAIT_MS,
  type RetryEvent,
  type Waits,
} from "../events.ts";
import type { CombinedInstrumentation, CombinedObserver } from "../instrumentation.ts";
import { pauseLeftMs } from "../rate-limit/rate-limiter.ts";
import type { Redactor } from "../secrets/redact.ts";
import { now } from "../time/clock.ts";
import type { ResponseHead } from "../wire/head.ts";
import type { Operation } from "./operation.ts";
import type { AttemptId, Context } from "./settings.ts";

interface ObservedCall {
  readonly id: string;
  readonly operation: Operation<unknown>;
  readonly redactor: Redactor;
  readonly settings: Context;
}

/** The least time between two `queue_wait` events of a client. */
const QUEUE_WAIT_EVERY_MS = 60_000;

/** So many paused tokens are looked at when a pause begins: more than one, so that no more are kept than are paused. */
const LOOKS = 2;

const LOSSES = ["connection", "timeout", "abort"] as const;

const NO_TIME: Readonly<Record<keyof Durations, number>> = {
  waitMs: 0,
  queueMs: 0,
  tokenMs: 0,
  headersMs: 0,
  bodyMs: 0,
};

/**
 * The events of one call, and how long each stage of it took: when the call enters a stage, the time since is booked to
 * the stage before, so that nothing is counted twice or left out. Made only where something listens.
 */
export class CallEvents {
  readonly #call: ObservedCall;
  readonly #observer: CombinedObserver;
  readonly #began: number = now();
  /** The time that the call waited, for the rate limit and between attempts, in milliseconds. */
  waitedMs = 0;
  #attempt = 1;
  #isRequested = false;
  #stage: keyof Durations = "waitMs";
  #since: number = this.#began;
  #spent: Record<keyof Durations, number> = { ...NO_TIME };

  constructor(call: ObservedCall, instrumentation: CombinedInstrumentation) {
    const { id, operation, settings } = call;
    const { name, method, path } = operation;
    const { baseUrl } = settings;
    this.#call = call;
    this.#observer = instrumentation.begin({ callId: id, operation: name, method, path: path.template, baseUrl });
  }

  emit(fields: EventFields<ClientEvent>, about: AttemptId = this.#attemptId): void {
    this.#observer.event({ ...fields, ...about, at: Date.now() });
  }

  get #attemptId(): AttemptId {
    const { id, operation } = this.#call;
    return { callId: id, operation: operation.name, attempt: this.#attempt };
  }

  end(error: AnyAutomationError | undefined, { attempts, status }: Pick<EndEvent, "attempts" | "status">): void {
    this.enterStage("total");
    const ended = error ?? { kind: undefined, outcome: "accepted", status };
    const { kind, outcome } = ended;
    const durationMs = this.#since - this.#began;
    this.emit({ type: "end", ok: error === undefined, kind, outcome, status: ended.status, attempts, durationMs });
    this.#observer.end(error, this.#isRequested ? undefined : this.#waits());
  }

  enterStage(phase: TimeoutPhase): void {
    const time = now();
    const spentMs = time - this.#since;
    this.#since = time;
    this.#spent[this.#stage] += spentMs;
    if (this.#stage === "waitMs" || this.#stage === "queueMs") this.waitedMs += spentMs;
    this.#stage = phase === "total" ? "waitMs" : (`${phase}Ms` as const);
  }

  retry(retry: Pick<RetryEvent, "reason" | "delayMs" | "status">): void {
    this.enterStage("total");
    this.emit({ type: "retry", ...retry, ...this.#spent });
    this.#spent = { ...NO_TIME };
    this.#isRequested = false;
    this.#attempt += 1;
  }

  request(): void {
    // The time until here is part of what the request waited.
    this.enterStage("headers");
    // It was kept back, since another token has come.
    if (this.#isRequested) return;
    const { method, path } = this.#call.operation;
    this.#isRequested = true;
    this.emit({ type: "request", method, path: path.template, ...this.#waits() });
  }

  #waits(): Waits {
    const { waitMs, queueMs, tokenMs } = this.#spent;
    return { waitMs, queueMs, tokenMs };
  }

  headers(): Readonly<Record<string, string>> {
    return this.#observer.headers();
  }

  /** Sends an attempt, once, in the context that observers want for it. */
  send(dispatch: () => Promise<Response>): Promise<Response> {
    let sending: Promise<Response> | undefined;
    const sendOnce = (): Promise<Response> => (sending ??= dispatch());
    this.#observer.around(() => void sendOnce());
    return sendOnce();
  }

  /** The response to a request; `error` is that of the call if the body was lost. */
  response({ status, limit, remaining, headers }: ResponseHead, error?: AutomationError): void {
    this.enterStage("body");
    const requestId = this.#call.redactor.short(headers.get("x-request-id"));
    const lost = LOSSES.find((kind) => kind === error?.kind);
    this.emit({ type: "response", status, requestId, limit, remaining, lost, ...this.#spent });
  }

  /** The token is paused for so long: told once per token until the pause is over, and again if it becomes much longer. */
  pause(token: string, delayMs: number | undefined): void {
    const { settings } = this.#call;
    const { paused } = settings.emittedOnce;
    if (delayMs === undefined) return;
    const until = now() + delayMs;
    const toldUntil = paused.get(token)?.until;
    if (until < Number(toldUntil) + LONG_WAIT_MS) return;
    // A token that has been replaced is never sent again, so the end of its pause is noticed here. Each pause looks at a few
    // tokens, in turn: among thousands it costs no more.
    let looks = 0;
    for (const [other, told] of paused) {
      if (looks === LOOKS) break;
      looks += 1;
      if (pauseLeftMs(settings, other) === undefined) this.resume(other);
      else {
        paused.delete(other);
        paused.set(other, told);
      }
    }
    paused.set(token, { about: this.#attemptId, until });
    this.emit({ type: "rate_limit_pause", delayMs });
  }

  /** A call has waited in its queue for so long by now: told once a minute for all calls of the client. */
  queueWait(queueMs: number): void {
    const { emittedOnce } = this.#call.settings;
    const at = now();
    if (queueMs < LONG_WAIT_MS || at - emittedOnce.queueWaitAt < QUEUE_WAIT_EVERY_MS) return;
    emittedOnce.queueWaitAt = at;
    this.emit({ type: "queue_wait", queueMs });
  }

  resume(token: string): void {
    const { paused } = this.#call.settings.emittedOnce;
    const told = paused.get(token);
    if (paused.delete(token)) this.emit({ type: "rate_limit_resume" }, told?.about);
  }
}
