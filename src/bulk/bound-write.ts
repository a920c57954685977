import { AbortError, ArgumentError, type AutomationError, type ErrorDetails } from "../client/index.ts";
import { REPORTED } from "../core/call/api-promise.ts";
import { type CallOutcome, isHarmless, NOTHING_SENT, type OutcomeEvent } from "../core/call/outcome.ts";
import type { CallEnd, CallStart, InnerInstrumentation, InnerObserver } from "../core/instrumentation.ts";
import { isWrite } from "../core/wire/method.ts";
import type { Service } from "../core/wire/service.ts";
import { addressOf } from "./address.ts";
import type { ItemRecords } from "./item-records.ts";
import type { RunPhase } from "./phase.ts";
import { waitingReason } from "./reason.ts";
import type { Write } from "./send-state.ts";

/** The events after which a write may wait to be sent again. */
const WAITS: ReadonlySet<unknown> = new Set([429, 401, "unsent"]);

/**
 * The one write that `send` makes through the client of its item: sees it begin and end, and records it before each of its
 * requests. Reads are not looked at.
 */
export class BoundWrite implements InnerInstrumentation {
  state: Write | undefined;
  /** A write to another service than the run's, or a second one: it was not sent. */
  misuse: ArgumentError | undefined;
  readonly ended: Promise<void>;
  readonly #records: ItemRecords;
  readonly #phase: RunPhase;
  readonly #service: Service;
  readonly #controller = new AbortController();
  #resolveEnded: () => void = () => {};
  /** A request has left, and nothing has happened since after which the write may wait. */
  #isOnItsWay = false;
  readonly #calls = new Set<string>();
  /** The end of the item is known, so a call that `send` has left behind must not write any more. */
  #isClosed = false;

  constructor(records: ItemRecords, service: Service, phase: RunPhase) {
    this.#records = records;
    this.#service = service;
    this.#phase = phase;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  isOwn({ callId }: AutomationError): boolean {
    return callId !== undefined && this.#calls.has(callId);
  }

  /** A request on its way continues until it is aborted, and every other wait is ended. */
  heed(): void {
    const { aborts, cause, sends } = this.#phase;
    const mayContinue = sends || this.#isOnItsWay;
    if (aborts || !mayContinue) this.#controller.abort(cause);
  }

  close(): void {
    this.#isClosed = true;
  }

  begin({ callId, method, path, baseUrl: service }: CallStart): InnerObserver | undefined {
    this.#calls.add(callId);
    if (!isWrite(method)) return undefined;
    const details = { outcome: "not_sent", callId, method, path } as const;
    if (this.#isClosed) throw new ArgumentError("send had ended before this write, which was not sent", details);
    if (this.state !== undefined) {
      this.#refuse("one item is one write: send has made a second one, which was not sent", details);
    }
    if (service !== this.#service) {
      const message = `send must write to the service of the run, ${this.#service}: this write is to ${service}, and was not sent`;
      this.#refuse(message, details);
    }
    this.state = { outcome: NOTHING_SENT };
    return {
      beforeRequest: (token) => this.#record(token),
      outcome: (outcome, event) => this.#note(outcome, event),
      end: (end) => this.#end(end),
    };
  }

  /** The run fails by it, so the promise of the write may be forgotten. */
  #refuse(message: string, details: ErrorDetails): never {
    this.misuse ??= reported(new ArgumentError(message, details));
    throw this.misuse;
  }

  /** Resolves when a record says that a request is about to leave. A resend needs none where that is the latest record. */
  async #record(token: string): Promise<void> {
    this.#checkGoing();
    this.#records.service = addressOf(this.#service, token);
    if (this.#records.latest !== "sending") await this.#records.add({ state: "sending" });
    this.#checkGoing();
  }

  /** If the process ends while the write waits to be sent again, the record says that it was not sent. */
  #note(outcome: CallOutcome, event: OutcomeEvent): void {
    if (this.#isClosed) return;
    this.state = { outcome };
    this.#isOnItsWay ||= event === "sent";
    if (!isHarmless(outcome) || !WAITS.has(typeof event === "string" ? event : event.status)) return;
    this.#isOnItsWay = false;
    void this.#records.addIfPossible({ state: "not_sent", reason: waitingReason() });
    this.heed();
  }

  #end(end: CallEnd): void {
    this.state = { outcome: this.state?.outcome ?? NOTHING_SENT, end };
    if (end.error !== undefined) reported(end.error);
    this.#resolveEnded();
  }

  /** The stop is the cause, and never the error itself: it may be that of another item, with an outcome of its own. */
  #checkGoing(): void {
    const { cause, sends } = this.#phase;
    if (!sends) {
      const outcome = isHarmless(this.state?.outcome ?? NOTHING_SENT) ? "not_sent" : "unknown";
      throw new AbortError("the run ended before this request, which was not sent", { outcome, cause });
    }
    if (this.#isClosed) throw new ArgumentError("send had ended before this request, which was not sent");
  }
}

function reported<Failure extends AutomationError>(error: Failure): Failure {
  return Object.defineProperty(error, REPORTED, { value: true });
}
