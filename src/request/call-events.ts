import { now } from "../clock.ts";
import type { TimeoutPhase } from "../errors/automation-error.ts";
import type { AnyAutomationError } from "../errors/guard.ts";
import type { ClientEvent, Durations, RetryReason, Waits } from "../events.ts";
import { ignoreErrors } from "../ignore-errors.ts";
import type { CallObserver, Instrumentation } from "../instrumentation.ts";
import type { RateLimitAnswer } from "../rate-limit/rate-limiter.ts";
import { headerText } from "./error-details.ts";
import type { ResponseHead } from "./exchange.ts";
import type { Operation } from "./operation.ts";
import type { Redactor } from "./redact.ts";
import { CLIENTS_OWN_HEADERS } from "./settings.ts";

/** What a client has emitted already and emits once. */
export interface Notices {
  /** A pause has been told, and its end has not. */
  paused: boolean;
  /** Operations whose deprecation has been told. */
  readonly deprecated: Set<string>;
}

/** A request that is sent again. */
export interface Retry {
  readonly reason: RetryReason;
  readonly delayMs: number;
  readonly status: number | undefined;
}

/** The part of a client that events come from. */
interface Source {
  readonly instrumentation: Instrumentation | undefined;
  readonly notices: Notices;
  readonly baseUrl: string;
}

type FieldsOf<Event> = Event extends ClientEvent ? Omit<Event, "callId" | "operation" | "attempt" | "at"> : never;

const DURATIONS: Readonly<Record<TimeoutPhase, keyof Durations>> = {
  total: "waitMs",
  queue: "queueMs",
  token: "tokenMs",
  headers: "headersMs",
  body: "bodyMs",
};

/**
 * The events of one call, and how long each stage of it took: when the call enters a stage, the time since is booked to
 * the stage before, so that nothing is counted twice or left out. Made only where something listens.
 */
export class CallEvents {
  readonly #id: string;
  readonly #operation: Operation<unknown>;
  readonly #observer: CallObserver;
  readonly #notices: Notices;
  #attempt = 1;
  /** The request of the present attempt has been sent. */
  #isSent = false;
  #stage: keyof Durations = "waitMs";
  #since: number = now();
  #spent: Record<keyof Durations, number> = noTime();
  #waitedMs = 0;
  #limits: RateLimitAnswer | undefined;
  /** The attempt that failed last. */
  #failed: { readonly attempt: number } & Durations = { attempt: 0, ...noTime() };
  #planned: Retry | undefined;

  private constructor(id: string, operation: Operation<unknown>, to: { observer: CallObserver; notices: Notices }) {
    this.#id = id;
    this.#operation = operation;
    this.#observer = to.observer;
    this.#notices = to.notices;
  }

  /** The events of a call that begins; `undefined` if nothing listens to them. */
  static begin(id: string, operation: Operation<unknown>, source: Source): CallEvents | undefined {
    const { instrumentation, notices, baseUrl } = source;
    if (instrumentation === undefined) return undefined;
    const { name, method, path } = operation;
    const observer = instrumentation.begin({ callId: id, operation: name, method, path: path.template, baseUrl });
    return observer && new CallEvents(id, operation, { observer, notices });
  }

  emit(fields: FieldsOf<ClientEvent>, attempt: number = this.#attempt): void {
    this.#observer.event?.({ ...fields, callId: this.#id, operation: this.#operation.name, attempt, at: Date.now() });
  }

  /** The call is over; `error` is what it rejects with. */
  end(error: AnyAutomationError | undefined): void {
    this.enter("total");
    this.#observer.end?.(error, this.#isSent ? undefined : this.#waits());
  }

  /** The call enters a stage. */
  enter(phase: TimeoutPhase): void {
    const time = now();
    const spentMs = time - this.#since;
    this.#since = time;
    this.#spent[this.#stage] += spentMs;
    if (this.#stage === "waitMs" || this.#stage === "queueMs") this.#waitedMs += spentMs;
    this.#stage = DURATIONS[phase];
  }

  /** The present attempt failed; the time until the next one is waiting. */
  failed(): void {
    // An attempt that was not sent is the last of its call: `end` reports what it waited.
    if (!this.#isSent) return;
    this.enter("total");
    this.#failed = { attempt: this.#attempt, ...this.#spent };
    this.#spent = noTime();
    this.#isSent = false;
    this.#attempt += 1;
  }

  /** The failed attempt is followed by another one. */
  retry(retry: Retry): void {
    const { attempt, ...spent } = this.#failed;
    this.emit({ type: "retry", ...retry, ...spent }, attempt);
  }

  /** The failed attempt is followed by another one, if that is not refused before it is sent. */
  planRetry(retry: Retry): void {
    this.#planned = retry;
  }

  /** What was planned for this reason, if it was, happens. */
  retryPlanned(reason: RetryReason): void {
    const planned = this.#planned;
    if (planned?.reason !== reason) return;
    this.#planned = undefined;
    this.retry(planned);
    if (reason === "unauthorized") this.emit({ type: "token_refresh" });
  }

  request(): void {
    this.retryPlanned("unauthorized");
    // The time until here is part of what the request waited.
    this.enter("headers");
    const { method, path } = this.#operation;
    this.#isSent = true;
    this.emit({ type: "request", method, path: path.template, ...this.#waits() });
  }

  #waits(): Waits {
    const { waitMs, queueMs, tokenMs } = this.#spent;
    return { waitMs, queueMs, tokenMs };
  }

  /** The headers that observers want to send along. */
  headers(): Record<string, string> {
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries<unknown>(this.#observer.headers?.() ?? {})) {
      const isTheirs = typeof value === "string" && !CLIENTS_OWN_HEADERS.includes(name.toLowerCase());
      if (isTheirs && isHeader(name, value)) headers[name.toLowerCase()] = value;
    }
    return headers;
  }

  /** Sends an attempt, once, in the context that observers want for it. */
  send(dispatch: () => Promise<Response>): Promise<Response> {
    let sending: Promise<Response> | undefined;
    const sendOnce = (): Promise<Response> => (sending ??= dispatch());
    this.#observer.around?.(() => void sendOnce());
    return sendOnce();
  }

  /** The head of a response: it may say that the operation is deprecated (RFC 9745, RFC 8594). */
  head({ headers }: ResponseHead, limits: RateLimitAnswer, redactor: () => Redactor): void {
    this.#limits = limits;
    const { deprecated } = this.#notices;
    const isDeprecated = headers.has("deprecation") || headers.has("sunset");
    if (!isDeprecated || deprecated.has(this.#operation.name)) return;
    deprecated.add(this.#operation.name);
    const show = (name: string): string | undefined => headerText(redactor(), headers.get(name));
    this.emit({ type: "deprecation", deprecation: show("deprecation"), sunset: show("sunset") });
  }

  response(status: number): void {
    this.enter("body");
    const { limit, remaining } = this.#limits ?? {};
    this.emit({ type: "response", status, limit, remaining, ...this.#spent });
  }

  /** The output of the call, if it is a page of a walk. */
  output(output: unknown): void {
    const tally = this.#operation.tally?.(output, this.#waitedMs);
    if (tally !== undefined) this.emit({ type: "page", ...tally });
  }

  /** The token is paused for so long, which this client tells once. */
  pause(delayMs: number | undefined): void {
    if (delayMs === undefined || this.#notices.paused) return;
    this.#notices.paused = true;
    this.emit({ type: "rate_limit_pause", delayMs });
  }

  /** The pause that was told is over. */
  resume(): void {
    if (!this.#notices.paused) return;
    this.#notices.paused = false;
    this.emit({ type: "rate_limit_resume" });
  }
}

function noTime(): Record<keyof Durations, number> {
  return { waitMs: 0, queueMs: 0, tokenMs: 0, headersMs: 0, bodyMs: 0 };
}

function isHeader(name: string, value: string): boolean {
  let is = false;
  ignoreErrors(() => {
    new Headers([[name, value]]);
    is = true;
  });
  return is;
}
