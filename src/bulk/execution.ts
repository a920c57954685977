import { ignoreErrors } from "../client/checks/ignore-errors.ts";
import type { AutomationError } from "../client/errors/automation-error.ts";
import { AbortError, ArgumentError } from "../client/errors/classes.ts";
import { after, platformTurn } from "../client/time/clock.ts";
import { onAbort } from "../client/time/deadline.ts";
import { AddressRefusals } from "./address-refusals.ts";
import type { BulkEntry } from "./bulk-run.ts";
import type { Entries } from "./entries.ts";
import { ItemSource, type KeyedItem } from "./item-source.ts";
import { type ItemEnd, ItemWrite } from "./item-write.ts";
import type { Known } from "./journal.ts";
import type { Settings } from "./options.ts";
import type { Counts } from "./progress.ts";
import { RunJournal } from "./run-journal.ts";
import { readThrown } from "./thrown.ts";
import { Turns } from "./turns.ts";

/** How many turns of the platform what heeds its signal may take to end: a call of the client takes two or three. */
const TURNS_TO_END = 10;

/** The work of a run: takes items as there is room, keeps those under way, and adds the entry of each as it ends. */
export class Execution<Item, Result> {
  total: number | undefined;
  stoppedBy: AutomationError | undefined;
  /** What the iteration rejects with. */
  failure: AutomationError | undefined;
  readonly #settings: Settings<Item, Result>;
  readonly #counts: Counts;
  readonly #entries: Entries<BulkEntry<Item, Result>>;
  readonly #journal: RunJournal;
  readonly #underWay = new Set<ItemWrite<Item, Result>>();
  readonly #refusals = new AddressRefusals();
  /** The one item whose `send` may go on until a request was announced. */
  #ahead: ItemWrite<Item, Result> | undefined;
  /** A request was announced, so `send` passes its options on. */
  #isProven = false;
  /** Where items are being taken from. */
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

  /** Never rejects: what goes wrong is the `failure`. */
  async run(): Promise<void> {
    this.#counts.start();
    const unsubscribe = this.#heedSignal();
    try {
      await this.#work();
    } catch (thrown) {
      const { error, said, details } = readThrown(thrown);
      this.#fail(error ?? new ArgumentError(`items failed${said}`, details));
    }
    while (this.#underWay.size > 0) await this.#entries.change();
    this.#cancelGrace?.();
    unsubscribe();
    await this.#journal.close().catch((error: AutomationError) => this.#fail(error));
    this.#counts.end();
    this.#entries.end();
  }

  /** Stops, and waits `graceMs` for what is on its way. */
  end(reason: AutomationError): void {
    this.#stop(reason);
    this.#cancelGrace ??= after(this.#settings.graceMs, () => void this.#abort());
  }

  /** Stops when the signal aborts, until the returned function is called. A signal of the caller's own may fail. */
  #heedSignal(): () => void {
    const { signal } = this.#settings;
    if (signal === undefined) return () => {};
    const stop = (): void => {
      const cause = ignoreErrors<unknown>(() => signal.reason);
      this.end(new AbortError("the run was aborted", { cause }));
    };
    try {
      return onAbort(signal, stop);
    } catch (thrown) {
      const { said, details } = readThrown(thrown);
      this.#fail(new ArgumentError(`signal failed${said}`, { outcome: "not_sent", ...details }));
      return () => {};
    }
  }

  async #work(): Promise<void> {
    const turns = new Turns();
    // First of all: a journal that another run uses must not be touched, whatever the options are.
    const known = await this.#load(turns);
    if (known === undefined) return;
    const source = new ItemSource(this.#settings.items, this.#settings.key);
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
      const isUnderWay = this.#begin(taken, before?.state === "not_sent" ? undefined : before);
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
      this.#deliver(keyed, { state, reference: before?.reference }, true);
    } else if (isStopped) {
      this.#deliver(keyed, { state: state === undefined ? "not_sent" : "unknown" });
    } else {
      void this.#write(keyed, before);
      return true;
    }
    return false;
  }

  async #write(keyed: KeyedItem<Item>, before: Known | undefined): Promise<void> {
    const write: ItemWrite<Item, Result> = new ItemWrite(keyed, this.#settings, {
      record: (record) => this.#journal.write(record),
      admit: () => this.#admit(write),
      announced: () => this.#prove(),
    });
    this.#underWay.add(write);
    const end = await write.run(before);
    // Before it is recorded: another request could leave while the record is stored.
    this.#heed(end);
    await write.record(end);
    this.#underWay.delete(write);
    if (this.#ahead === write) this.#ahead = undefined;
    this.#deliver(keyed, end);
  }

  /** Until a request was announced, one `send` at a time: one that forgets its options is found by its first request. */
  async #admit(write: ItemWrite<Item, Result>): Promise<void> {
    while (!this.#isProven && this.#ahead !== undefined && this.stoppedBy === undefined) await this.#entries.change();
    this.#ahead = write;
  }

  #prove(): void {
    if (this.#isProven) return;
    this.#isProven = true;
    this.#entries.notify();
  }

  #heed({ state, error, consequence, url }: ItemEnd<Result>): void {
    if (error !== undefined && consequence === "stop") this.#stop(error);
    if (error !== undefined && consequence === "fail") this.#fail(error);
    if (state === "done" || state === "refused") this.#refusals.reset();
    const refusal = error !== undefined && consequence === "address" ? this.#refusals.add(error, url) : undefined;
    if (refusal !== undefined) this.#stop(refusal);
  }

  #deliver(keyed: KeyedItem<Item>, end: ItemEnd<Result>, skipped = false): void {
    const { state, result, reference, error } = end;
    this.#counts.add(state, skipped);
    this.#entries.add({ ...keyed, state, skipped, result, reference, error });
  }

  #fail(error: AutomationError): void {
    this.failure ??= error;
    this.#stop(error);
  }

  /** Begins no further item. Requests on their way continue. */
  #stop(reason: AutomationError): void {
    this.stoppedBy ??= reason;
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

  /** Resolves with what the journal says, or with `undefined` if the run was stopped and it does not say it in time. */
  #load(turns: Turns): Promise<Map<string, Known> | undefined> {
    return new Promise((resolve, reject) => {
      this.#giveUpLoading = () => resolve(undefined);
      this.#journal.load(turns).then(resolve, reject);
    });
  }
}
