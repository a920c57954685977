import { ignoreErrors } from "../client/checks/ignore-errors.ts";
import { describeValue } from "../client/checks/values.ts";
import type { AutomationError } from "../client/errors/automation-error.ts";
import { ArgumentError } from "../client/errors/classes.ts";
import type { KeyedItem } from "./item-source.ts";
import { type BulkState, isReference, type JournalRecord, type Known, type Reference } from "./journal.ts";
import type { Resolution, SendOptions, Settings } from "./options.ts";
import { type AnnouncedCall, isCommonFailure, type SendEnd, type SendState, stateAfterSend } from "./send-state.ts";
import { readThrown } from "./thrown.ts";

/** How one item ended. */
export interface ItemEnd<Result> extends SendState {
  readonly result?: Result;
  readonly reference?: Reference | undefined;
  /** Where its response came from. */
  readonly url?: string | undefined;
  /** The journal says so already, or does not work. */
  readonly isRecorded?: boolean;
}

/** What an item under way needs of its run. */
export interface ItemRun {
  /** Resolves when the record is durable. */
  record(record: JournalRecord): Promise<void>;
  /** Resolves when `send` may be called. */
  admit(): Promise<void>;
  /** A request of the item is about to leave. */
  announced(): void;
}

const RESOLUTIONS: readonly unknown[] = ["applied", "not_applied", "undecided"];
const STILL_UNKNOWN = { state: "unknown", isRecorded: true } as const;

/** One item under way: finds out whether it may be sent, sends it, and records how it ended. */
export class ItemWrite<Item, Result> {
  /** `resolveUnknown` is being asked about it. */
  isResolving = false;
  readonly #keyed: KeyedItem<Item>;
  readonly #settings: Settings<Item, Result>;
  readonly #run: ItemRun;
  readonly #controller = new AbortController();
  readonly #abandonment: Promise<"abandoned">;
  #abandon: () => void = () => {};
  #call: AnnouncedCall & { readonly url?: string } = {
    callId: undefined,
    hasLeft: false,
    isWaitedFor: false,
    status: undefined,
    hasSecond: false,
  };
  /** The journal has, or is about to have, a record of this run for it. */
  #isRecorded = false;
  /** `send` is over, so what it may have left running must not send any more. */
  #isSendOver = false;
  #stopReason: AutomationError | undefined;

  constructor(keyed: KeyedItem<Item>, settings: Settings<Item, Result>, run: ItemRun) {
    this.#keyed = keyed;
    this.#settings = settings;
    this.#run = run;
    this.#abandonment = new Promise((resolve) => {
      this.#abandon = () => resolve("abandoned");
    });
  }

  /** Sends nothing from now on. A request on its way continues; every other wait of the item is ended. */
  stop(reason: AutomationError): void {
    this.#stopReason = reason;
    if (!this.#call.hasLeft) this.#controller.abort(reason);
  }

  /** Ends a request on its way too. */
  abort(): void {
    this.#controller.abort(this.#stopReason);
  }

  /** Waits no longer for what has been aborted and does not end. */
  abandon(): void {
    this.#abandon();
  }

  /** Resolves with its end, which is still to be recorded. Never rejects. */
  async run(known: Known | undefined): Promise<ItemEnd<Result>> {
    try {
      if (known === undefined || known.state === "refused") return await this.#send();
      const { resolution, failure } = await this.#resolve(known);
      if (resolution === "applied") return { state: "done" };
      if (resolution === "undecided") return { ...STILL_UNKNOWN, ...failure };
      return (await this.#write("not_sent")) ? await this.#send() : STILL_UNKNOWN;
    } catch (thrown) {
      const { said, details } = readThrown(thrown);
      const error = new ArgumentError(`what send failed with cannot be read${said}`, {
        outcome: "unknown",
        ...details,
      });
      return { state: "unknown", error, consequence: "fail" };
    }
  }

  /** Records its end. Does not reject: if the journal fails, its writer stops the run. */
  async record({ state, reference, isRecorded }: ItemEnd<Result>): Promise<void> {
    // A key without a record counts as not sent.
    const isNews = isRecorded !== true && (state !== "not_sent" || this.#isRecorded);
    if (isNews) await this.#write(state, reference);
  }

  async #resolve(
    known: Known,
  ): Promise<{ readonly resolution: Resolution; readonly failure?: Omit<SendState, "state"> }> {
    const { resolveUnknown } = this.#settings;
    const { key, item } = this.#keyed;
    const { signal } = this.#controller;
    if (resolveUnknown === undefined || signal.aborted) return { resolution: "undecided" };
    this.isResolving = true;
    try {
      const ask = async (): Promise<{ readonly resolution: unknown }> => ({
        resolution: await resolveUnknown(item, { key, recordedAt: new Date(known.at), signal }),
      });
      const end = await Promise.race([ask(), this.#abandonment]);
      if (end === "abandoned") return { resolution: "undecided" };
      const { resolution } = end;
      if (RESOLUTIONS.includes(resolution)) return { resolution: resolution as Resolution }; // it is one of them
      const message = `resolveUnknown must return one of ${RESOLUTIONS.join(", ")}, not ${describeValue(resolution)}`;
      return { resolution: "undecided", failure: { error: new ArgumentError(message), consequence: "fail" } };
    } catch (thrown) {
      const { error, said, details } = readThrown(thrown);
      const failure = error ?? new ArgumentError(`resolveUnknown failed${said}`, details);
      return {
        resolution: "undecided",
        failure: isCommonFailure(failure) ? { error: failure, consequence: "stop" } : { error: failure },
      };
    } finally {
      this.isResolving = false;
    }
  }

  async #send(): Promise<ItemEnd<Result>> {
    await this.#run.admit();
    if (this.#stopReason !== undefined) return { state: "not_sent" };
    const end = await Promise.race([this.#callSend(), this.#abandonment]);
    this.#isSendOver = true;
    const after: ItemEnd<Result> = { ...stateAfterSend(end, this.#call), url: this.#call.url };
    if (end === "abandoned" || "thrown" in end) return after;
    const { result } = end;
    return after.state === "done" ? { ...after, result, ...this.#refer(result) } : { ...after, result };
  }

  async #callSend(): Promise<SendEnd<Result>> {
    const { signal } = this.#controller;
    const onRequest = (request: { readonly callId: string }): Promise<void> => {
      const announced = new WatchedPromise<void>((resolve) => resolve(this.#announce(request)));
      // A `send` that wraps onRequest may hide that it rejects: then the signal keeps the request back.
      announced.catch((refusal: unknown) => this.#controller.abort(refusal));
      announced.onWait = () => {
        this.#call = { ...this.#call, isWaitedFor: true };
      };
      return announced;
    };
    const onResponse: SendOptions["onResponse"] = ({ callId, status, url }) => {
      if (callId === this.#call.callId) this.#call = { ...this.#call, status, url };
    };
    try {
      return { result: await this.#settings.send(this.#keyed.item, { signal, onRequest, onResponse }) };
    } catch (thrown) {
      return { thrown };
    } finally {
      this.#isSendOver = true;
    }
  }

  /** Called before each request. A resend by the client needs no record: it is already known that a request may have left. */
  async #announce({ callId }: { readonly callId: string }): Promise<void> {
    this.#run.announced();
    const first = this.#call.callId ?? callId;
    this.#call = { ...this.#call, callId: first, hasSecond: this.#call.hasSecond || callId !== first };
    if (callId !== first) {
      throw new ArgumentError("one item is one write: send has made a second call with its options");
    }
    this.#checkGoing();
    if (!this.#isRecorded) {
      // Before the wait: if the call is ended during it, the record has to be followed by another.
      this.#isRecorded = true;
      await this.#run.record(this.#recordOf("sending"));
    }
    this.#checkGoing();
    this.#call = { ...this.#call, hasLeft: true };
  }

  #checkGoing(): void {
    if (this.#stopReason !== undefined) throw this.#stopReason;
    if (this.#isSendOver) throw new ArgumentError("send has not waited for its call", { outcome: "not_sent" });
  }

  #refer(result: Result): { readonly reference?: Reference; readonly error?: AutomationError } {
    try {
      const reference: unknown = this.#settings.reference?.(result, this.#keyed.item);
      if (isReference(reference)) return reference === undefined ? {} : { reference };
      ignoreErrors(() => reference); // a promise may reject
      const message = `reference must return a string or a number, not ${describeValue(reference)}`;
      return { error: new ArgumentError(message, { outcome: "accepted" }) };
    } catch (thrown) {
      const { said, details } = readThrown(thrown);
      return { error: new ArgumentError(`reference failed${said}`, { outcome: "accepted", ...details }) };
    }
  }

  /** Returns whether the record is durable. If it is not, the writer stops the run. */
  async #write(state: BulkState, reference?: Reference): Promise<boolean> {
    try {
      await this.#run.record(this.#recordOf(state, reference));
      return true;
    } catch {
      return false;
    }
  }

  #recordOf(state: JournalRecord["state"], reference?: Reference): JournalRecord {
    const at = new Date().toISOString();
    return { key: this.#keyed.key, state, at, ...(reference === undefined ? {} : { reference }) };
  }
}

/** A promise that tells when something waits for it. */
class WatchedPromise<Value> extends Promise<Value> {
  onWait: (() => void) | undefined;

  // biome-ignore lint/suspicious/noThenProperty: `await` and `return` in an async function call it
  override then<Next = Value, Failure = never>(
    onFulfilled?: ((value: Value) => Next | PromiseLike<Next>) | null,
    onRejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Next | Failure> {
    this.onWait?.();
    return super.then(onFulfilled, onRejected);
  }
}
