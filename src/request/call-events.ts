import { now } from "../clock.ts";
import type { TimeoutPhase } from "../errors/automation-error.ts";
import type { AnyAutomationError } from "../errors/guard.ts";
import type { ClientEvent, Durations, RetryReason, Waits } from "../events.ts";
import { ignoreErrors } from "../ignore-errors.ts";
import type { CallObserver, Instrumentation } from "../instrumentation.ts";
import type { RateLimitAnswer } from "../rate-limit/rate-limiter.ts";
import type { Operation } from "./operation.ts";
import { CLIENTS_OWN_HEADERS } from "./settings.ts";

/** What a client remembers from call to call, for whoever follows them. */
export interface Journal {
  /** A pause has been reported and its end has not. */
  paused: boolean;
  /** Operations whose deprecation has been reported. */
  readonly deprecated: Set<string>;
}

type FieldsOf<Event> = Event extends ClientEvent ? Omit<Event, "callId" | "operation" | "attempt" | "at"> : never;

const DURATIONS: Readonly<Record<TimeoutPhase, keyof Durations>> = {
  total: "waitMs",
  queue: "queueMs",
  token: "tokenMs",
  headers: "headersMs",
  body: "bodyMs",
};

/** Who follows the calls of a client, and from where. */
export interface Audience {
  readonly instrumentation: Instrumentation | undefined;
  readonly journal: Journal;
  readonly baseUrl: string;
}

/**
 * Tells what becomes of one call, and how long each stage of it took: whenever it goes on to another, the time since is
 * booked to the one before, so that nothing is counted twice or left out. Made only where somebody follows the call.
 */
export class CallEvents {
  readonly #observer: CallObserver;
  readonly #journal: Journal;
  readonly #operation: Operation<unknown>;
  readonly #id: string;
  #attempt = 0;
  /** The attempt that was last begun, or is to come, has been sent. */
  #isSent = false;
  #stage: keyof Durations = "waitMs";
  #since: number = now();
  #spent: Record<keyof Durations, number> = noTime();
  #waitedMs = 0;
  #head: RateLimitAnswer | undefined;
  /** The attempt that has failed last. */
  #failed: { readonly attempt: number } & Durations = { attempt: 0, ...noTime() };

  private constructor(observer: CallObserver, journal: Journal, call: { operation: Operation<unknown>; id: string }) {
    this.#observer = observer;
    this.#journal = journal;
    this.#operation = call.operation;
    this.#id = call.id;
  }

  /** The report of a call that begins; `undefined` if nobody wants it. */
  static of(
    operation: Operation<unknown>,
    { instrumentation, journal, baseUrl }: Audience,
    id: string,
  ): CallEvents | undefined {
    if (instrumentation === undefined) return undefined;
    const { name, method, path } = operation;
    const observer = instrumentation.begin({ callId: id, operation: name, method, path: path.template, baseUrl });
    return observer && new CallEvents(observer, journal, { operation, id });
  }

  emit(fields: FieldsOf<ClientEvent>, attempt: number = this.#attempt): void {
    this.#observer.event?.({ ...fields, callId: this.#id, operation: this.#operation.name, attempt, at: Date.now() });
  }

  /** The call is over; `error` is what it rejects with. */
  end(error: AnyAutomationError | undefined): void {
    this.enter("total");
    this.#observer.end?.(error, this.#isSent ? undefined : this.#waits());
  }

  /** The call goes on to another stage. */
  enter(phase: TimeoutPhase): void {
    const time = now();
    const spentMs = time - this.#since;
    this.#since = time;
    this.#spent[this.#stage] += spentMs;
    if (this.#stage === "waitMs" || this.#stage === "queueMs") this.#waitedMs += spentMs;
    this.#stage = DURATIONS[phase];
  }

  /** An attempt begins. */
  begin(): void {
    this.#attempt += 1;
  }

  /** The attempt under way has failed; what follows until the next is waiting. */
  fail(): void {
    // One that was not sent is the call's last, and what it has waited is told at its end.
    if (!this.#isSent) return;
    this.enter("total");
    this.#failed = { attempt: this.#attempt, ...this.#spent };
    this.#spent = noTime();
    this.#isSent = false;
  }

  retry(reason: RetryReason, delayMs: number, status: number | undefined): void {
    const { attempt, ...spent } = this.#failed;
    this.emit({ type: "retry", reason, delayMs, status, ...spent }, attempt);
  }

  request(): void {
    const { method, path } = this.#operation;
    this.#isSent = true;
    this.emit({ type: "request", method, path: path.template, ...this.#waits() });
  }

  #waits(): Waits {
    const { waitMs, queueMs, tokenMs } = this.#spent;
    return { waitMs, queueMs, tokenMs };
  }

  /** Puts on a request what whoever follows the call wants to send along. */
  addHeaders(to: Headers): void {
    for (const [name, value] of Object.entries<unknown>(this.#observer.headers?.() ?? {})) {
      const isTheirs = typeof value === "string" && !CLIENTS_OWN_HEADERS.includes(name.toLowerCase());
      if (isTheirs) ignoreErrors(() => to.set(name, value));
    }
  }

  /** Sends an attempt, once, in whatever context those who follow the call want for it. */
  send(dispatch: () => Promise<Response>): Promise<Response> {
    let sending: Promise<Response> | undefined;
    const sendOnce = (): Promise<Response> => (sending ??= dispatch());
    this.#observer.around?.(() => void sendOnce());
    return sendOnce();
  }

  /** The head of an answer: it may say that the operation is deprecated. */
  head(headers: Headers, answer: RateLimitAnswer): void {
    this.#head = answer;
    const deprecation = headers.get("deprecation") ?? undefined;
    const sunset = headers.get("sunset") ?? undefined;
    const { deprecated } = this.#journal;
    if ((deprecation === undefined && sunset === undefined) || deprecated.has(this.#operation.name)) return;
    deprecated.add(this.#operation.name);
    this.emit({ type: "deprecation", deprecation, sunset });
  }

  response(status: number): void {
    this.enter("body");
    this.emit({ type: "response", status, limit: this.#head?.limit, remaining: this.#head?.remaining, ...this.#spent });
  }

  /** What the call came to, if it is a page of a walk. */
  output(output: unknown): void {
    const tally = this.#operation.tally?.(output, this.#waitedMs);
    if (tally !== undefined) this.emit({ type: "page", ...tally });
  }

  /** A pause, unless this client has told it already. */
  pause(delayMs: number): void {
    if (this.#journal.paused) return;
    this.#journal.paused = true;
    this.emit({ type: "rate_limit_pause", delayMs });
  }

  /** The pause that was told is over. */
  resume(): void {
    if (!this.#journal.paused) return;
    this.#journal.paused = false;
    this.emit({ type: "rate_limit_resume" });
  }
}

function noTime(): Record<keyof Durations, number> {
  return { waitMs: 0, queueMs: 0, tokenMs: 0, headersMs: 0, bodyMs: 0 };
}
