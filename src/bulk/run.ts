import { after } from "../clock.ts";
import { type AutomationError, isBrandedError } from "../errors/automation-error.ts";
import { AbortError, ArgumentError } from "../errors/client-errors.ts";
import type { BulkEntry, BulkRun } from "./bulk-run.ts";
import { Changes } from "./changes.ts";
import { ItemSource, type KeyedItem } from "./item-source.ts";
import { type ItemEnd, ItemWrite } from "./item-write.ts";
import { type Known, loadJournal } from "./journal.ts";
import { asJournalError, JournalError } from "./journal-error.ts";
import { JournalWriter } from "./journal-writer.ts";
import type { Settings } from "./options.ts";
import { type BulkProgress, type BulkSummary, Counts } from "./progress.ts";

/** Takes items as there is room, keeps those under way, and hands out entries as they end. */
export class Run<Item, Result> implements BulkRun<Item, Result> {
  readonly #settings: Settings<Item, Result>;
  readonly #counts = new Counts();
  readonly #changes = new Changes();
  readonly #underWay = new Set<ItemWrite<Item, Result>>();
  readonly #writer: JournalWriter;
  /** Entries that wait to be taken. */
  #ended: BulkEntry<Item, Result>[] = [];
  #total: number | undefined;
  #execution: Promise<void> | undefined;
  #isIterated = false;
  /** The caller takes no more entries. */
  #isLeft = false;
  #isOver = false;
  #stoppedBy: AutomationError | undefined;
  /** What the iteration rejects with, once. */
  #failure: AutomationError | undefined;
  #interruptTake: (() => void) | undefined;
  #cancelGrace: (() => void) | undefined;

  constructor(settings: Settings<Item, Result>) {
    this.#settings = settings;
    this.#writer = new JournalWriter(settings.journal, (error) => this.#fail(error));
  }

  get summary(): BulkSummary {
    return this.#counts.summary;
  }

  get progress(): BulkProgress {
    const { pausedUntil } = this.#settings;
    const underWay = this.#underWay.size;
    return { ...this.summary, ...this.#counts.pace, total: this.#total, underWay, pausedUntil: pausedUntil?.() };
  }

  get stoppedBy(): AutomationError | undefined {
    return this.#stoppedBy;
  }

  async finish(): Promise<BulkSummary> {
    for await (const _ of this);
    return this.summary;
  }

  [Symbol.asyncIterator](): AsyncIterator<BulkEntry<Item, Result>, undefined> {
    if (this.#isIterated) throw new ArgumentError("a run can be iterated only once", { outcome: "not_sent" });
    this.#isIterated = true;
    return { next: () => this.#next(), return: () => this.#leave() };
  }

  async #next(): Promise<IteratorResult<BulkEntry<Item, Result>, undefined>> {
    this.#execution ??= this.#execute();
    for (;;) {
      const value = this.#ended.shift();
      if (value !== undefined) {
        this.#changes.notify();
        return { done: false, value };
      }
      if (this.#isOver) return this.#finalResult();
      await this.#changes.next();
    }
  }

  /** The caller left its loop: the run ends in order before the loop does. */
  async #leave(): Promise<IteratorResult<BulkEntry<Item, Result>, undefined>> {
    this.#isLeft = true;
    this.#ended = [];
    if (!this.#isOver) this.#stopSoon(new AbortError("the iteration of the run was left early"));
    this.#execution ??= this.#execute();
    await this.#execution;
    return this.#finalResult();
  }

  #finalResult(): IteratorResult<never, undefined> {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
    return { done: true, value: undefined };
  }

  /** Never rejects: what goes wrong is kept for the iteration. */
  async #execute(): Promise<void> {
    const { journal, signal } = this.#settings;
    const onAbort = (): void => this.#stopSoon(new AbortError("the run was aborted", { cause: signal?.reason }));
    this.#counts.start();
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort);
    let isOurs = true;
    try {
      const { items, key } = this.#settings;
      const source = new ItemSource(items, key);
      this.#total = source.total;
      const known = await loadJournal(journal).catch((error: unknown) => {
        throw asJournalError(error, "be loaded");
      });
      await this.#feed(source, known);
    } catch (error) {
      isOurs = !(error instanceof JournalError && error.reason === "in_use");
      this.#fail(isBrandedError(error) ? error : new ArgumentError("items failed", { cause: error }));
    }
    while (this.#underWay.size > 0) await this.#changes.next();
    this.#cancelGrace?.();
    signal?.removeEventListener("abort", onAbort);
    if (isOurs) await this.#close();
    this.#counts.end();
    this.#isOver = true;
    this.#changes.notify();
  }

  async #close(): Promise<void> {
    try {
      await this.#settings.journal.close?.();
    } catch (error) {
      this.#fail(asJournalError(error, "be closed"));
    }
  }

  async #feed(source: ItemSource<Item>, known: Map<string, Known>): Promise<void> {
    try {
      for (;;) {
        while (!this.#hasRoom()) await this.#changes.next();
        if (this.#stoppedBy !== undefined) await source.stop();
        const taken = await this.#take(source);
        if (taken === undefined) return;
        const before = known.get(taken.key);
        known.delete(taken.key);
        this.#begin(taken, before);
      }
    } finally {
      await source.stop();
    }
  }

  #hasRoom(): boolean {
    const { concurrency } = this.#settings;
    if (!this.#isLeft && this.#ended.length >= concurrency) return false;
    return this.#stoppedBy !== undefined || this.#underWay.size < concurrency;
  }

  /** Takes the next item. A stream that makes the run wait is left when the run is stopped. */
  #take(source: ItemSource<Item>): Promise<KeyedItem<Item> | undefined> {
    return new Promise((resolve, reject) => {
      if (source.total === undefined) this.#interruptTake = () => resolve(undefined);
      source.take().then(resolve, reject);
    });
  }

  #begin(keyed: KeyedItem<Item>, before: Known | undefined): void {
    const isStopped = this.#stoppedBy !== undefined;
    const state = before?.state;
    if (state === "done" || (state === "refused" && (isStopped || !this.#settings.retryRefused))) {
      this.#deliver(keyed, { state, reference: before?.reference }, true);
    } else if (isStopped) {
      this.#deliver(keyed, { state: state === undefined ? "not_sent" : "unknown" });
    } else {
      void this.#write(keyed, before);
    }
  }

  async #write(keyed: KeyedItem<Item>, before: Known | undefined): Promise<void> {
    const write = new ItemWrite(keyed, this.#settings, this.#writer);
    this.#underWay.add(write);
    const end = await write.run(before);
    // Before it is recorded: meanwhile another request could leave.
    if (end.error !== undefined && end.consequence === "stop") this.#stop(end.error);
    if (end.error !== undefined && end.consequence === "fail") this.#fail(end.error);
    await write.record(end);
    this.#underWay.delete(write);
    this.#deliver(keyed, end);
  }

  #deliver(keyed: KeyedItem<Item>, end: ItemEnd<Result>, skipped = false): void {
    const { state, result, reference, error } = end;
    this.#counts.add(skipped ? "skipped" : state);
    if (!this.#isLeft) this.#ended.push({ ...keyed, state, skipped, result, reference, error });
    this.#changes.notify();
  }

  #fail(error: AutomationError): void {
    this.#failure ??= error;
    this.#stop(error);
  }

  /** Begins nothing more. What is on its way goes on. */
  #stop(reason: AutomationError): void {
    this.#stoppedBy ??= reason;
    for (const write of this.#underWay) write.stop(reason);
    this.#interruptTake?.();
    this.#changes.notify();
  }

  /** Stops for a caller who waits for it. */
  #stopSoon(reason: AutomationError): void {
    this.#stop(reason);
    this.#cancelGrace ??= after(this.#settings.graceMs, () => {
      for (const write of this.#underWay) write.abort();
    });
  }
}
