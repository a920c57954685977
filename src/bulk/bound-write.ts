import type { CallHooks, HookedCall, HookedEnd } from "../client/call/call-hooks.ts";
import { AbortError, ArgumentError, type AutomationError } from "../client/index.ts";
import { platformTurn } from "../client/time/clock.ts";
import type { ItemRecords } from "./item-records.ts";
import { reasonOf } from "./reason.ts";
import { stateOfWrite, type Write } from "./send-state.ts";
import type { Address } from "./stoppage.ts";

/** Why an item is not sent that was to be sent again when the run ended. */
const ENDED_WAITS = {
  429: "the service answered 429, and the run ended while the item waited for the rate limit",
  401: "the service answered 401, and the run ended before the item was sent with another token",
  none: "no connection could be made, and the run ended before the item was sent again",
} as const;
const KINDS = { 429: "rate_limit", 401: "auth", none: "connection" } as const;

/**
 * The one write that `send` makes through the client of its item: sees it begin and end, and records it before each of its
 * requests. Reads are not looked at.
 */
export class BoundWrite {
  /** The write as far as it has come; absent until it begins. */
  state: Write | undefined;
  /** The address of the write, once it has begun. */
  address: Address | undefined;
  /** Resolves when the write has ended. */
  readonly ended: Promise<void>;
  /** Lie under each call of the item's client. */
  readonly hooks: CallHooks;
  readonly #records: ItemRecords;
  readonly #controller = new AbortController();
  #resolveEnded: () => void = () => {};
  #callId: string | undefined;
  /** The end of the item is known, so a call that `send` has left behind must not write any more. */
  #isClosed = false;
  #stopReason: AutomationError | undefined;

  constructor(records: ItemRecords) {
    this.#records = records;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.hooks = {
      signal: this.signal,
      begin: (call) => this.#begin(call),
      beforeRequest: (call) => this.#beforeRequest(call),
      notApplied: (call, status) => this.#notApplied(call, status),
      end: (call, end) => this.#end(call, end),
    };
  }

  /** Ends each call of the item's client. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Sends nothing from now on. A request on its way continues, and so does what follows it; every other wait is ended. */
  stop(reason: AutomationError): void {
    this.#stopReason = reason;
    if (this.state?.mayBeApplied !== true) this.abort();
  }

  /** Ends a request on its way, too. */
  abort(): void {
    this.#controller.abort(this.#stopReason);
  }

  /** Refuses a write that begins, or goes on, from now on. */
  close(): void {
    this.#isClosed = true;
  }

  #begin({ callId, method, path, url }: HookedCall): void {
    if (method === "GET" || method === "HEAD") return;
    const details = { outcome: "not_sent", callId, method, path } as const;
    if (this.#isClosed) throw new ArgumentError("send had ended before this write, which was not sent", details);
    if (this.state !== undefined) {
      throw new ArgumentError("one item is one write: send has made a second one, which was not sent", details);
    }
    this.#callId = callId;
    this.state = { mayBeApplied: false };
    this.address = { path, url };
  }

  /** Resolves when a record says that a request is about to leave. A resend needs none where that is the latest record. */
  async #beforeRequest({ callId }: HookedCall): Promise<void> {
    if (callId !== this.#callId) return;
    this.#checkGoing();
    if (this.#records.latest !== "sending") await this.#records.add({ state: "sending" });
    this.#checkGoing();
    this.state = { mayBeApplied: true };
  }

  /** The write may now wait to be sent again. If the process ends in that wait, the record says that it was not sent. */
  #notApplied({ callId }: HookedCall, status: 429 | 401 | undefined): void {
    if (callId !== this.#callId) return;
    this.state = { mayBeApplied: false };
    const why = status ?? "none";
    const reason = { kind: KINDS[why], status, message: ENDED_WAITS[why], recordedAt: new Date().toISOString() };
    void this.#records.addIfPossible({ state: "not_sent", reason });
    if (this.#stopReason !== undefined) this.abort();
  }

  #end({ callId }: HookedCall, end: HookedEnd): void {
    if (callId !== this.#callId) return;
    this.state = { mayBeApplied: this.state?.mayBeApplied === true, end };
    this.#resolveEnded();
    void this.#recordEarly(this.state);
  }

  /** Records the end of the write if `send` goes on after it: the process may end in the meantime. */
  async #recordEarly(write: Write): Promise<void> {
    await platformTurn();
    const state = stateOfWrite(write);
    if (this.#isClosed || state === "unknown") return;
    const error = state === "done" ? undefined : write.end?.error;
    await this.#records.addIfPossible({ state, reason: error && reasonOf(error) });
  }

  /** The stop is the cause, and never the error itself: it may be that of another item, with an outcome of its own. */
  #checkGoing(): void {
    if (this.#stopReason !== undefined) {
      const outcome = this.state?.mayBeApplied === true ? "unknown" : "not_sent";
      throw new AbortError("the run ended before this request, which was not sent", {
        outcome,
        cause: this.#stopReason,
      });
    }
    if (this.#isClosed) throw new ArgumentError("send had ended before this request, which was not sent");
  }
}
