import { AbortError, ArgumentError, type AutomationError } from "../client/index.ts";
import { after, now, platformTurn } from "../client/time/clock.ts";
import { onAbort } from "../client/time/deadline.ts";
import type { BulkEntry } from "./bulk-run.ts";
import type { Entries } from "./entries.ts";
import { ItemSource, type KeyedItem } from "./item-source.ts";
import { type ItemEnd, ItemWrite } from "./item-write.ts";
import { type Known, reasonOfKnown } from "./journal.ts";
import type { Settings } from "./options.ts";
import { afterItem, NO_OUTAGE, type Outage } from "./outage.ts";
import type { Counts } from "./progress.ts";
import { type BulkReason, reasonOf } from "./reason.ts";
import { RunJournal } from "./run-journal.ts";
import { type Address, tooManyFailures } from "./stoppage.ts";
import { readThrown } from "./thrown.ts";
import { Turns } from "./turns.ts";

/** Turns of the platform for calls to end after they were aborted: a call of the client takes two or three. */
const TURNS_TO_END = 10;

/** The work of a run: takes items as there is room, keeps those under way, and adds the entry of each as it ends. */
export class Execution<Item, Result> {
  total: number | undefined;
  stoppedBy: AutomationError | undefined;
  /** The error that the iteration rejects with: the run itself could not go on. */
  failure: AutomationError | undefined;
  /** The error of the first item that was sent. */
  firstError: AutomationError | undefined;
  /** The first error of `resolveUnknown`. */
  unresolvedBy: AutomationError | undefined;
  readonly #settings: Settings<Item, Result>;
  readonly #counts: Counts;
  readonly #entries: Entries<BulkEntry<Item, Result>>;
  readonly #journal: RunJournal;
  readonly #underWay = new Set<ItemWrite<Item, Result>>();
  /** The items whose `send` was called, and which have not ended. */
  readonly #sent = new Set<ItemWrite<Item, Result>>();
  /** The first of these. */
  #first: ItemWrite<Item, Result> | undefined;
  #outage: Outage = NO_OUTAGE;
  /** When the next item may be sent in an outage, on the monotonic clock. */
  #resumesAt = 0;
  #cancelBackoff: () => void = () => {};
  /** The reason of items that were not begun. */
  #reason: BulkReason | undefined;
  /** The source that items are being taken from. */
  #source: ItemSource<Item> | undefined;
  #cancelGrace: (() => void) | undefined;
  /** Waits no longer for the records of the journal. */
  #giveUpLoading: () => void = () => {};

  constructor(settings: Settings<Item, Result>, counts: Counts, entries: Entries<BulkEntry<Item, Result>>) {
    this.#settings = settings;
    this.#counts = counts;
    this.#entries = entries;
    this.#journal = new RunJournal(settings.journal, (error) => this.#fail(error));
    this.total = settings.total;
  }

  get underWay(): number {
    return this.#underWay.size;
  }

  get resolving(): number {
    return [...this.#underWay].filter(({ isResolving }) => isResolving).length;
  }

  /** Never rejects: an error is the `failure`. */
  async run(): Promise<void> {
    this.#counts.start();
    const unsubscribe = this.#heedSignal();
    try {
      await this.#work();
    } catch (thrown) {
      const { error, said, details } = readThrown(thrown, this.#settings.redact);
      this.#fail(error ?? new ArgumentError(`items failed${said}`, details));
    }
    while (this.#underWay.size > 0) await this.#entries.change();
    this.#cancelGrace?.();
    this.#cancelBackoff();
    unsubscribe();
    await this.#journal.close().catch((error: AutomationError) => this.#fail(error));
    this.#counts.end();
    this.#entries.end();
  }

  /** Stops, and waits `graceMs` for requests on their way. */
  end(reason: AutomationError): void {
    this.#stop(reason);
    this.#cancelGrace ??= after(this.#settings.graceMs, () => void this.#abort());
  }

  /** Stops when the signal aborts, until the returned function is called. */
  #heedSignal(): () => void {
    const { signal } = this.#settings;
    if (signal === undefined) return () => {};
    const stop = (): void => {
      this.end(new AbortError("the run was aborted", { cause: signal.reason }));
    };
    return onAbort(signal, stop);
  }

  async #work(): Promise<void> {
    const turns = new Turns();
    // First of all: a journal that another run uses must not be touched, whatever the options are.
    const known = await this.#load(turns);
    if (known === undefined) return;
    const source = new ItemSource(this.#settings);
    this.total = (await source.check(turns)) ?? this.total;
    this.#source = source;
    try {
      await this.#feed(source, known, turns);
    } finally {
      await source.stop(this.#settings.graceMs);
    }
  }

  async #feed(source: ItemSource<Item>, known: Map<string, Known>, turns: Turns): Promise<void> {
    for (;;) {
      while (!this.#hasRoom()) await this.#entries.change();
      if (this.stoppedBy !== undefined && source.isStream) return;
      const taken = await source.take();
      if (taken === undefined) return;
      const before = known.get(taken.key);
      known.delete(taken.key);
      const isUnderWay = this.#begin(taken, before);
      // Items that are sent give the platform turns enough, and those that begin together share a flush.
      if (!isUnderWay && turns.isDue) await turns.take();
    }
  }

  #hasRoom(): boolean {
    if (this.#entries.isFull) return false;
    return this.stoppedBy !== undefined || this.#underWay.size < this.#settings.concurrency;
  }

  /** Returns whether it is under way now; otherwise it has ended already. */
  #begin(keyed: KeyedItem<Item>, before: Known | undefined): boolean {
    const isStopped = this.stoppedBy !== undefined;
    const state = before?.state;
    if (state === "done" || (state === "refused" && (isStopped || !this.#settings.retryRefused))) {
      const reason = before === undefined || state === "done" ? undefined : reasonOfKnown(before);
      this.#deliver(keyed, { state, reason, reference: before?.reference }, true);
    } else if (isStopped) {
      const reason = before === undefined ? this.#reason : reasonOfKnown(before);
      this.#deliver(keyed, { state: state === undefined || state === "not_sent" ? "not_sent" : "unknown", reason });
    } else {
      void this.#write(keyed, before);
      return true;
    }
    return false;
  }

  async #write(keyed: KeyedItem<Item>, before: Known | undefined): Promise<void> {
    let failuresBefore: number | undefined;
    const write: ItemWrite<Item, Result> = new ItemWrite(keyed, this.#settings, {
      record: (record) => this.#journal.write(record),
      admit: async () => {
        failuresBefore = await this.#admit(write);
      },
    });
    this.#underWay.add(write);
    const end = await write.run(before);
    this.#sent.delete(write);
    if (write === this.#first) this.firstError = end.error;
    if (failuresBefore === undefined) this.unresolvedBy ??= end.error;
    // Before it is recorded: another request could leave while the record is stored.
    this.#heed(end, write, failuresBefore);
    await write.record(end);
    this.#underWay.delete(write);
    this.#deliver(keyed, end);
  }

  /** Resolves when the item may be sent, or the run has stopped, with the failures in a row: in an outage, one at a time. */
  async #admit(write: ItemWrite<Item, Result>): Promise<number> {
    const mustWait = (): boolean => this.#outage.failures > 0 && (this.#sent.size > 0 || now() < this.#resumesAt);
    while (this.stoppedBy === undefined && mustWait()) await this.#entries.change();
    this.#sent.add(write);
    this.#first ??= write;
    return this.#outage.failures;
  }

  /** `failuresBefore` is absent for an item that was not sent, which says nothing about the service. */
  #heed(end: ItemEnd<Result>, { address }: ItemWrite<Item, Result>, failuresBefore: number | undefined): void {
    const { error, consequence } = end;
    if (error !== undefined && consequence === "stop") this.#stop(error);
    if (error !== undefined && consequence === "fail") this.#fail(error);
    const isAnswer = consequence === "through" || consequence === "hold";
    if (this.stoppedBy !== undefined || failuresBefore === undefined || !isAnswer) return;
    const failure = consequence === "hold" ? error : undefined;
    const { rules, stopAfter } = this.#settings;
    const before = this.#outage;
    this.#outage = afterItem(before, { failure, failuresBefore }, { rules, stopAfter, random: Math.random() });
    if (failure !== undefined && this.#outage !== before) this.#hold(failure, address);
    this.#entries.notify();
  }

  #hold(failure: AutomationError, address: Address | undefined): void {
    const { failures, delayMs, isOver } = this.#outage;
    if (isOver) {
      this.#stop(tooManyFailures(failures, failure, address));
      return;
    }
    this.#resumesAt = now() + delayMs;
    this.#cancelBackoff();
    this.#cancelBackoff = after(delayMs, () => this.#entries.notify());
  }

  #deliver(keyed: KeyedItem<Item>, end: ItemEnd<Result>, skipped = false): void {
    const { state, result, reference, reason, error } = end;
    this.#counts.add(state, skipped);
    this.#entries.add({ ...keyed, state, skipped, result, reference, reason, error });
  }

  #fail(error: AutomationError): void {
    this.failure ??= error;
    this.#stop(error);
  }

  /** Begins no further item. Requests on their way continue. */
  #stop(reason: AutomationError): void {
    this.stoppedBy ??= reason;
    this.#reason ??= reasonOf(reason);
    for (const write of this.#underWay) write.stop(reason);
    void this.#source?.stop(this.#settings.graceMs);
    this.#entries.notify();
  }

  /** The grace is over. */
  async #abort(): Promise<void> {
    for (const write of this.#underWay) write.abort();
    for (let turn = 0; turn < TURNS_TO_END; turn += 1) await platformTurn();
    for (const write of this.#underWay) write.abandon();
    this.#giveUpLoading();
  }

  /** Resolves with the records of the journal, or with `undefined` if the run was stopped and they do not come in time. */
  #load(turns: Turns): Promise<Map<string, Known> | undefined> {
    return new Promise((resolve, reject) => {
      this.#giveUpLoading = () => resolve(undefined);
      this.#journal.load(turns).then(resolve, reject);
    });
  }
}
