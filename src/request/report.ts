import { now } from "../clock.ts";
import type { TimeoutPhase } from "../errors/automation-error.ts";
import type { ClientEvent, Durations, EventListener, RetryReason } from "../events.ts";
import type { Operation } from "./operation.ts";

/** What a client remembers from call to call, for its listener. */
export interface Journal {
  calls: number;
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

/**
 * Tells a listener what becomes of one call, and how long each stage of it took: whenever it goes on to another, the
 * time since is booked to the one before, so that nothing is counted twice or left out. Made only where somebody listens.
 */
export class Report {
  readonly #listener: EventListener;
  readonly #journal: Journal;
  readonly #operation: Operation<unknown>;
  readonly #id: string;
  #attempt = 0;
  #stage: keyof Durations = "waitMs";
  #since: number = now();
  #spent: Record<keyof Durations, number> = noTime();
  /** The attempt that has failed last. */
  #failed: { readonly attempt: number } & Durations = { attempt: 0, ...noTime() };

  constructor(listener: EventListener, journal: Journal, operation: Operation<unknown>) {
    this.#listener = listener;
    this.#journal = journal;
    this.#operation = operation;
    journal.calls += 1;
    this.#id = `call_${journal.calls}`;
  }

  emit(fields: FieldsOf<ClientEvent>, attempt: number = this.#attempt): void {
    this.#listener({ ...fields, callId: this.#id, operation: this.#operation.name, attempt, at: Date.now() });
  }

  /** The call goes on to another stage. */
  enter(phase: TimeoutPhase): void {
    const time = now();
    this.#spent[this.#stage] += time - this.#since;
    this.#since = time;
    this.#stage = DURATIONS[phase];
  }

  /** An attempt begins. */
  begin(): void {
    this.#attempt += 1;
  }

  /** The attempt under way has failed; what follows until the next is waiting. */
  fail(): void {
    this.enter("total");
    this.#failed = { attempt: this.#attempt, ...this.#spent };
    this.#spent = noTime();
  }

  retry(reason: RetryReason, delayMs: number, status: number | undefined): void {
    const { attempt, ...spent } = this.#failed;
    this.emit({ type: "retry", reason, delayMs, status, ...spent }, attempt);
  }

  request(): void {
    const { method, path } = this.#operation;
    const { waitMs, queueMs, tokenMs } = this.#spent;
    this.emit({ type: "request", method, path: path.template, waitMs, queueMs, tokenMs });
  }

  response(status: number): void {
    this.enter("body");
    this.emit({ type: "response", status, ...this.#spent });
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

  /** The head of an answer: it may say that the operation is deprecated. */
  head(headers: Headers): void {
    const deprecation = headers.get("deprecation") ?? undefined;
    const sunset = headers.get("sunset") ?? undefined;
    const { deprecated } = this.#journal;
    if ((deprecation === undefined && sunset === undefined) || deprecated.has(this.#operation.name)) return;
    deprecated.add(this.#operation.name);
    this.emit({ type: "deprecation", deprecation, sunset });
  }
}

function noTime(): Record<keyof Durations, number> {
  return { waitMs: 0, queueMs: 0, tokenMs: 0, headersMs: 0, bodyMs: 0 };
}
