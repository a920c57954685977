import { describeType } from "../describe-type.ts";
import { type AutomationError, isBrandedError } from "../errors/automation-error.ts";
import { ArgumentError } from "../errors/client-errors.ts";
import type { KeyedItem } from "./item-source.ts";
import { type BulkState, isReference, type JournalRecord, type Known, type Reference } from "./journal.ts";
import type { JournalWriter } from "./journal-writer.ts";
import type { Resolution, Settings } from "./options.ts";
import { isCommonFailure, type SendEnd, type SendState, stateAfterSend } from "./send-state.ts";

/** How one item ended. */
export interface ItemEnd<Result> extends SendState {
  readonly result?: Result;
  readonly reference?: Reference | undefined;
  /** The journal says so already, or does not work. */
  readonly isRecorded?: boolean;
}

const RESOLUTIONS: readonly unknown[] = ["applied", "not_applied", "undecided"];

/** One item under way: finds out whether it may be sent, sends it, and records what it came to. */
export class ItemWrite<Item, Result> {
  readonly #controller = new AbortController();
  readonly #keyed: KeyedItem<Item>;
  readonly #settings: Settings<Item, Result>;
  readonly #writer: JournalWriter;
  #callId: string | undefined;
  #announced = false;
  /** The journal has, or is about to have, a record of this run for it. */
  #recorded = false;
  /** A request may be on its way. */
  #onItsWay = false;
  #secondCall = false;
  /** `send` has settled, so what it may have left running must not send any more. */
  #hasSettled = false;
  #stopReason: AutomationError | undefined;

  constructor(keyed: KeyedItem<Item>, settings: Settings<Item, Result>, writer: JournalWriter) {
    this.#keyed = keyed;
    this.#settings = settings;
    this.#writer = writer;
  }

  /** Sends nothing from now on. A request on its way goes on; whatever else the item waits for is ended. */
  stop(reason: AutomationError): void {
    this.#stopReason = reason;
    if (!this.#onItsWay) this.#controller.abort(reason);
  }

  /** Ends a request on its way too. */
  abort(): void {
    this.#controller.abort(this.#stopReason);
  }

  /** Resolves with what it came to, which is still to be recorded. Never rejects. */
  async run(known: Known | undefined): Promise<ItemEnd<Result>> {
    if (known === undefined || known.state === "refused") return this.#send();
    const { resolution, failure } = await this.#resolve(known);
    if (resolution === "applied") return { state: "done" };
    if (resolution === "undecided") return { ...failure, state: "unknown", isRecorded: true };
    return (await this.#write("not_sent")) ? this.#send() : { state: "unknown", isRecorded: true };
  }

  /** Records what it came to. Does not reject: if the journal fails, its writer stops the run. */
  async record({ state, reference, isRecorded }: ItemEnd<Result>): Promise<void> {
    // A key without a record counts as not sent.
    const isNews = isRecorded !== true && (state !== "not_sent" || this.#recorded);
    if (isNews) await this.#write(state, reference);
  }

  async #resolve(
    known: Known,
  ): Promise<{ readonly resolution: Resolution; readonly failure?: Omit<SendState, "state"> }> {
    const { resolveUnknown } = this.#settings;
    const { key, item } = this.#keyed;
    const { signal } = this.#controller;
    if (resolveUnknown === undefined || signal.aborted) return { resolution: "undecided" };
    try {
      const resolution: unknown = await resolveUnknown(item, { key, recordedAt: new Date(known.at), signal });
      if (RESOLUTIONS.includes(resolution)) return { resolution: resolution as Resolution }; // it is one of them
      const message = `resolveUnknown must return one of ${RESOLUTIONS.join(", ")}, not ${describeType(resolution)}`;
      return { resolution: "undecided", failure: { error: new ArgumentError(message), consequence: "fail" } };
    } catch (cause) {
      const error = isBrandedError(cause) ? cause : new ArgumentError("resolveUnknown failed", { cause });
      return { resolution: "undecided", failure: isCommonFailure(error) ? { error, consequence: "stop" } : { error } };
    }
  }

  async #send(): Promise<ItemEnd<Result>> {
    if (this.#stopReason !== undefined) return { state: "not_sent" };
    const end = await this.#callSend(this.#controller.signal);
    const after = stateAfterSend(end, {
      announced: this.#announced,
      recorded: this.#recorded,
      secondCall: this.#secondCall,
    });
    const { error: flaw, reference } = "result" in end && after.state === "done" ? this.#refer(end.result) : {};
    const error = after.error ?? flaw;
    return { ...after, ...(error && { error }), ...("result" in end && { result: end.result }), reference };
  }

  async #callSend(signal: AbortSignal): Promise<SendEnd<Result>> {
    const onRequest = (request: { readonly callId: string }): Promise<void> => this.#announce(request);
    try {
      return { result: await this.#settings.send(this.#keyed.item, { signal, onRequest }) };
    } catch (error) {
      return { error };
    } finally {
      this.#hasSettled = true;
    }
  }

  /** Called before each request. A resend by the client changes nothing of what is known, so it needs no record. */
  async #announce({ callId }: { readonly callId: string }): Promise<void> {
    this.#announced = true;
    this.#callId ??= callId;
    if (callId !== this.#callId) {
      this.#secondCall = true;
      throw new ArgumentError("one item is one write: send has made a second call with its options");
    }
    this.#checkGoing();
    if (!this.#recorded) {
      // Before the wait: if the call is ended during it, the record has to be followed by another.
      this.#recorded = true;
      await this.#writer.write(this.#recordOf("sending"));
    }
    this.#checkGoing();
    this.#onItsWay = true;
  }

  #checkGoing(): void {
    if (this.#stopReason !== undefined) throw this.#stopReason;
    if (this.#hasSettled) throw new ArgumentError("send has not waited for its call", { outcome: "not_sent" });
  }

  #refer(result: Result): { readonly reference?: Reference | undefined; readonly error?: AutomationError } {
    try {
      const reference: unknown = this.#settings.reference?.(result, this.#keyed.item);
      if (isReference(reference)) return { reference };
      const message = `reference must return a string or a number, not ${describeType(reference)}`;
      return { error: new ArgumentError(message, { outcome: "accepted" }) };
    } catch (cause) {
      return { error: new ArgumentError("reference failed", { outcome: "accepted", cause }) };
    }
  }

  /** Returns whether the record is durable. If it is not, the writer stops the run. */
  async #write(state: BulkState, reference?: Reference): Promise<boolean> {
    try {
      await this.#writer.write(this.#recordOf(state, reference));
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
