import { AbortError, ArgumentError, type AutomationError } from "../client/index.ts";
import { platformTurn } from "../core/time/clock.ts";
import { onAbort } from "../core/time/deadline.ts";
import { addressOf, areOfGoneEmulator, believed, tokenOfRun } from "./address.ts";
import type { BulkEntry } from "./bulk-run.ts";
import type { Entries } from "./entries.ts";
import { ItemGate } from "./item-gate.ts";
import { ItemSource, type KeyedItem } from "./item-source.ts";
import { type ItemEnd, ItemWrite } from "./item-write.ts";
import { type Known, reasonOfKnown } from "./journal.ts";
import type { BulkSettings } from "./options.ts";
import { RunPhase } from "./phase.ts";
import type { Counts } from "./progress.ts";
import { RunJournal } from "./run-journal.ts";
import { shownLine } from "./thrown.ts";
import { Turns } from "./turns.ts";
import { Unfinished } from "./unfinished.ts";

/** The platform's own timers: fake ones would advance to it. */
const { setInterval: startPlatformInterval, clearInterval: clearPlatformInterval } = globalThis;
const ALIVE_MS = 2 ** 30;

const allDoneBefore = (done: number, last: string): string =>
  `bulkWrite: nothing was sent: all ${done} items were done by earlier runs, the last on ${last}`;
const OTHER_EMULATOR = "bulkWrite: the journal is that of another emulator, so this run begins anew";

/** The work of a run: takes items as there is room, keeps those under way, and adds the entry of each as it ends. */
export class Execution<Item, Result> {
  total: number | undefined;
  failure: AutomationError | undefined;
  /** The error of the run once it has ended: its failure, or that items are left. */
  error: AutomationError | undefined;
  readonly #settings: BulkSettings<Item, Result>;
  readonly #counts: Counts;
  readonly #entries: Entries<BulkEntry<Item, Result>>;
  readonly #journal: RunJournal;
  readonly #underWay = new Set<ItemWrite<Item, Result>>();
  readonly #admitted = new Set<ItemWrite<Item, Result>>();
  readonly #unfinished = new Unfinished();
  #lastDoneAt = "";
  readonly #phase = new RunPhase(() => this.#heedPhase());
  readonly #gate: ItemGate;
  readonly #source: ItemSource<Item>;
  /** As records have it; without the world of an emulator until the token is known. */
  #address: string;

  constructor(settings: BulkSettings<Item, Result>, counts: Counts, entries: Entries<BulkEntry<Item, Result>>) {
    this.#settings = settings;
    this.#counts = counts;
    this.#entries = entries;
    this.#journal = new RunJournal(settings.journal, (error) => this.#fail(error), settings.readThrown);
    this.#source = new ItemSource(settings);
    this.#gate = new ItemGate(settings, this.#phase, () => entries.notify());
    this.#address = settings.own.baseUrl;
    this.total = settings.total;
  }

  get stoppedBy(): AutomationError | undefined {
    return this.#phase.cause;
  }

  get underWay(): number {
    return this.#underWay.size;
  }

  get resolving(): number {
    return [...this.#underWay].filter(({ isResolving }) => isResolving).length;
  }

  /** Never rejects: an error is the `failure`. */
  async run(): Promise<void> {
    // A process whose event loop runs empty ends with 0, as if the import were finished.
    const alive = startPlatformInterval(() => {}, ALIVE_MS);
    this.#counts.start();
    const unsubscribe = this.#heedSignal();
    const failure = await this.#work().then(
      () => undefined,
      (thrown: unknown) => this.#settings.readThrown(thrown),
    );
    // The items that were begun are finished, also if the source fails.
    while (this.#underWay.size > 0) await this.#entries.change();
    if (failure !== undefined) {
      this.#fail(failure.error ?? new ArgumentError(`items failed${failure.said}`, failure.details));
    }
    this.#gate.stop();
    unsubscribe();
    await this.#journal.close().catch((error: AutomationError) => this.#fail(error));
    this.#phase.release();
    clearPlatformInterval(alive);
    this.#counts.end();
    this.error = this.failure ?? this.#leftOver();
    this.#entries.end();
  }

  #leftOver(): AutomationError | undefined {
    const { summary } = this.#counts;
    const { done, skipped, ...states } = summary;
    const isCut = !this.#source.isWhole;
    if (isCut || Object.values(states).some((count) => count > 0)) {
      return this.#unfinished.error(summary, isCut, this.#phase);
    }
    if (done > 0 && skipped === done) this.#settings.own.say?.("info", allDoneBefore(done, this.#lastDoneAt));
    return undefined;
  }

  stop(cause: AutomationError): void {
    this.#phase.stopWithin(this.#settings.graceMs, cause);
  }

  #heedSignal(): () => void {
    const { signal } = this.#settings;
    if (signal === undefined) return () => {};
    return onAbort(signal, () => this.stop(new AbortError("the run was aborted", { cause: signal.reason })));
  }

  async #work(): Promise<void> {
    const turns = new Turns();
    const { own } = this.#settings;
    try {
      // First of all: a journal that another run uses must not be touched, whatever the items are.
      const known = await this.#phase.orGivenUp(this.#journal.load(turns));
      if (known === undefined) return;
      const token = (await this.#phase.orGivenUp(tokenOfRun(this.#settings, known.size > 0))) ?? "";
      this.#address = addressOf(own.baseUrl, token);
      if (areOfGoneEmulator(known.values(), this.#address, token !== "")) own.say?.("info", OTHER_EMULATOR);
      this.total = (await this.#source.check(turns)) ?? this.total;
      await this.#feed(known, turns);
    } finally {
      await this.#source.stop(this.#settings.graceMs);
    }
  }

  async #feed(known: Map<string, Known>, turns: Turns): Promise<void> {
    const before = (key: string): Known | undefined => {
      const record = known.get(key);
      known.delete(key);
      if (record?.state === "done" && record.at > this.#lastDoneAt) this.#lastDoneAt = record.at;
      return record && believed(record, this.#address);
    };
    for (;;) {
      while (!this.#hasRoom()) await this.#entries.change();
      const taken = this.#phase.sends ? await this.#source.take() : undefined;
      if (!this.#phase.sends) {
        for (const key of [...(taken ? [taken.key] : []), ...this.#source.rest]) this.#leave(key, before(key));
        return;
      }
      if (taken === undefined) return;
      const isUnderWay = this.#begin(taken, before(taken.key));
      // Items that are sent give the platform turns enough, and those that begin together share a flush.
      if (!isUnderWay && turns.isDue) await turns.take();
    }
  }

  #hasRoom(): boolean {
    if (!this.#phase.sends) return true;
    return !this.#entries.isFull && this.#underWay.size < this.#settings.concurrency;
  }

  /** Counts an item that a stopped run does not begin, by its latest record. */
  #leave(key: string, before: Known | undefined): void {
    const state = before?.state === "sending" ? "unknown" : (before?.state ?? "not_sent");
    if (before !== undefined && state !== "done") {
      this.#unfinished.add(key, state, { why: reasonOfKnown(before).message, isRecorded: true });
    }
    this.#counts.add(state, state === "done");
  }

  #begin(keyed: KeyedItem<Item>, before: Known | undefined): boolean {
    if (before?.state !== "done") {
      void this.#write(keyed, before);
      return true;
    }
    this.#deliver(keyed, { state: "done", reference: before.reference }, true);
    return false;
  }

  async #write(keyed: KeyedItem<Item>, before: Known | undefined): Promise<void> {
    let countedBefore: number | undefined;
    const write: ItemWrite<Item, Result> = new ItemWrite(keyed, this.#settings, {
      phase: this.#phase,
      address: this.#address,
      record: (record) => this.#journal.write(record),
      admit: async () => {
        countedBefore = await this.#admit(write);
      },
    });
    this.#underWay.add(write);
    const end = await write.run(before);
    this.#admitted.delete(write);
    // The run heeds the end before it is recorded: another request could leave while the record is stored.
    this.#heed(end, countedBefore);
    await write.record(end);
    this.#underWay.delete(write);
    this.#deliver(keyed, end);
  }

  /** Resolves when the item may be sent, or the run has stopped, with the number of failures that were counted before. */
  async #admit(write: ItemWrite<Item, Result>): Promise<number> {
    while (this.#phase.sends && !this.#gate.admits(this.#admitted.size)) {
      await this.#entries.change();
      await platformTurn(); // an item that ended at the same moment may have failed
    }
    this.#admitted.add(write);
    return this.#gate.counted;
  }

  /** `countedBefore` is absent for an item that was not admitted, which says nothing about the service. */
  #heed({ error, consequence, state }: ItemEnd<Result>, countedBefore: number | undefined): void {
    if (error !== undefined && consequence === "stop") this.#phase.stop(error);
    if (error !== undefined && consequence === "fail") this.#fail(error);
    const isCounted = consequence === "through" || consequence === "hold";
    if (countedBefore === undefined || !isCounted) return;
    if (state === "unknown") this.#gate.doubt();
    this.#gate.count({ failure: consequence === "hold" ? error : undefined, countedBefore });
  }

  #deliver(keyed: KeyedItem<Item>, end: ItemEnd<Result>, skipped = false): void {
    const { state, result, reference, reason, error, isRecorded = false } = end;
    this.#counts.add(state, skipped);
    // The error of an earlier run's item is that of `resolveUnknown`.
    const why = isRecorded && error ? shownLine(error.message) : reason?.message;
    if (why !== undefined) this.#unfinished.add(keyed.key, state, { why, isRecorded });
    this.#entries.add({ ...keyed, state, skipped, result, reference, reason, error });
  }

  #fail(error: AutomationError): void {
    this.failure ??= error;
    this.#phase.stop(error);
  }

  #heedPhase(): void {
    for (const write of this.#underWay) write.heed();
    if (!this.#phase.sends) {
      this.#gate.stop();
      void this.#source.stop(this.#settings.graceMs);
    }
    this.#entries.notify();
  }
}
