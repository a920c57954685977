import { ArgumentError } from "../client/index.ts";
import { describeValue, ignoreRejection } from "../core/checks/values.ts";
import { platformTurn } from "../core/time/clock.ts";
import { BoundWrite } from "./bound-write.ts";
import { ItemRecords } from "./item-records.ts";
import type { KeyedItem } from "./item-source.ts";
import { isReference, type JournalRecord, type Known, type Reference, reasonOfKnown } from "./journal.ts";
import type { BulkSettings, Resolution } from "./options.ts";
import type { RunPhase } from "./phase.ts";
import { type BulkReason, reasonOf } from "./reason.ts";
import { isCommonFailure, type SendEnd, type SendState, stateAfterSend, stateOfWrite } from "./send-state.ts";

export interface ItemEnd<Result> extends SendState {
  readonly result?: Result | undefined;
  readonly reference?: Reference | undefined;
  readonly reason?: BulkReason | undefined;
  readonly isRecorded?: boolean;
}

interface ItemRun {
  readonly phase: RunPhase;
  /** The address in records of an item whose write has not begun. */
  readonly address: string;
  record(record: JournalRecord): Promise<void>;
  admit(): Promise<void>;
}

const RESOLUTIONS: readonly unknown[] = ["applied", "not_applied", "undecided"];

/** One item under way: finds out whether it may be sent, sends it, and records its end. */
export class ItemWrite<Item, Result> {
  isResolving = false;
  readonly #keyed: KeyedItem<Item>;
  readonly #settings: BulkSettings<Item, Result>;
  readonly #run: ItemRun;
  readonly #records: ItemRecords;
  readonly #write: BoundWrite;

  constructor(keyed: KeyedItem<Item>, settings: BulkSettings<Item, Result>, run: ItemRun) {
    this.#keyed = keyed;
    this.#settings = settings;
    this.#run = run;
    this.#records = new ItemRecords(keyed.key, run.address, (record) => run.record(record));
    this.#write = new BoundWrite(this.#records, settings.own.baseUrl, run.phase);
  }

  heed(): void {
    this.#write.heed();
  }

  /** Resolves with its end, which is still to be recorded. Never rejects. */
  async run(known: Known | undefined): Promise<ItemEnd<Result>> {
    this.#records.follow(known);
    if (known?.state !== "sending" && known?.state !== "unknown") return this.#send();
    const reason = reasonOfKnown(known);
    const { resolution, failure } = await this.#resolve(known);
    if (resolution === "applied") return { state: "done" };
    const stillUnknown = { state: "unknown", reason, isRecorded: true } as const;
    if (resolution === "undecided") return { ...stillUnknown, ...failure };
    return (await this.#records.addIfPossible({ state: "not_sent", reason })) ? this.#send() : stillUnknown;
  }

  /** Resolves when its end is durable. Does not reject: if the journal fails, its writer stops the run. */
  async record({ state, reference, reason, error, isRecorded }: ItemEnd<Result>): Promise<void> {
    // A key without a record counts as not sent, so an item that was never begun needs none.
    const isUntouched = state === "not_sent" && this.#records.latest === undefined && error === undefined;
    await this.#records.end({ state, reference, reason }, isRecorded === true || isUntouched);
  }

  async #resolve(
    known: Known,
  ): Promise<{ readonly resolution: Resolution; readonly failure?: Omit<SendState, "state"> }> {
    const { resolveUnknown } = this.#settings;
    const { key, item } = this.#keyed;
    const { signal } = this.#write;
    if (resolveUnknown === undefined || signal.aborted) return { resolution: "undecided" };
    this.isResolving = true;
    try {
      const ask = async (): Promise<{ readonly resolution: unknown }> => ({
        resolution: await resolveUnknown(item, { key, recordedAt: new Date(known.at), signal }),
      });
      const end = await this.#run.phase.orGivenUp(ask());
      if (end === undefined) return { resolution: "undecided" };
      const { resolution } = end;
      if (RESOLUTIONS.includes(resolution)) return { resolution: resolution as Resolution }; // it is one of them
      const message = `resolveUnknown must return one of ${RESOLUTIONS.join(", ")}, not ${describeValue(resolution)}`;
      return { resolution: "undecided", failure: { error: new ArgumentError(message), consequence: "fail" } };
    } catch (thrown) {
      const { error, said, details } = this.#settings.readThrown(thrown);
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
    const { phase } = this.#run;
    await this.#run.admit();
    const sent = phase.sends ? await phase.orGivenUp(this.#callSend()) : undefined;
    const end = sent ?? "abandoned";
    this.#write.close();
    const { misuse, state: write } = this.#write;
    const failed = misuse === undefined ? {} : ({ error: misuse, consequence: "fail" } as const);
    const after: SendState = { ...stateAfterSend(this.#keyed.key, end, write), ...failed };
    const isAborted = after.error === undefined || after.error.kind === "abort";
    const cause = (isAborted && phase.cause) || after.error;
    if (after.state !== "done") return { ...after, reason: cause && reasonOf(cause) };
    if (end === "abandoned" || "thrown" in end) return after;
    const result = end.result as Result; // `send` has resolved with it
    return { ...after, result, ...this.#refer(result), ...failed };
  }

  /** Resolves when `send` has settled and its write has ended. Never rejects. */
  async #callSend(): Promise<SendEnd> {
    const client = this.#settings.bind(this.#write);
    void this.#write.ended.then(() => this.#recordEarly());
    let end: SendEnd;
    try {
      end = { result: await this.#settings.send(client, this.#keyed.item) };
    } catch (thrown) {
      const read = this.#settings.readThrown(thrown);
      end = { thrown: read, isOwn: read.error !== undefined && this.#write.isOwn(read.error) };
    }
    if (this.#write.state === undefined) this.#write.close();
    else await this.#write.ended; // `send` may have raced or forgotten its promise
    return end;
  }

  /** Records the end of the write if `send` goes on after it: the process may end in the meantime. */
  async #recordEarly(): Promise<void> {
    await platformTurn();
    const { isClosed, state: write } = this.#write;
    const state = write === undefined || isClosed ? "unknown" : stateOfWrite(write);
    if (state === "unknown") return;
    const error = state === "done" ? undefined : write?.end?.error;
    await this.#records.end({ state, reason: error && reasonOf(error) });
  }

  /** A failure ends the run: who awaits it sees no entry. */
  #refer(result: Result): Pick<ItemEnd<Result>, "reference" | "error" | "consequence"> {
    try {
      const reference: unknown = this.#settings.reference?.(result, this.#keyed.item);
      if (isReference(reference)) return reference === undefined ? {} : { reference };
      ignoreRejection(reference);
      const message = `reference must return a string or a number, not ${describeValue(reference)}`;
      return { error: new ArgumentError(message, { outcome: "accepted" }), consequence: "fail" };
    } catch (thrown) {
      const { said, details } = this.#settings.readThrown(thrown);
      const error = new ArgumentError(`reference failed${said}`, { outcome: "accepted", ...details });
      return { error, consequence: "fail" };
    }
  }
}
