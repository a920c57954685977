import { AbortError, ArgumentError, type AutomationError } from "../client/index.ts";
import type { BulkCounts } from "../core/errors/bulk-error.ts";
import { type CallerStack, withCallerStack } from "../core/errors/caller-stack.ts";
import type { BulkEntry, BulkRun } from "./bulk-run.ts";
import { Entries } from "./entries.ts";
import { Execution } from "./execution.ts";
import type { BulkSettings } from "./options.ts";
import { type BulkProgress, type BulkSummary, Counts } from "./progress.ts";

/** A run as its caller sees it: a promise of its end, entries to be taken, and progress. */
export class Run<Item, Result> implements BulkRun<Item, Result> {
  readonly [Symbol.toStringTag] = "BulkRun";
  readonly #settings: BulkSettings<Item, Result>;
  readonly #counts = new Counts();
  readonly #entries: Entries<BulkEntry<Item, Result>>;
  readonly #execution: Execution<Item, Result>;
  readonly #toCaller: CallerStack;
  #isIterated = false;
  #work: Promise<void> | undefined;

  /** @param toCaller lets the stack of an error of the run begin where the run was created */
  constructor(settings: BulkSettings<Item, Result>, toCaller: CallerStack) {
    this.#settings = settings;
    this.#toCaller = toCaller;
    this.#entries = new Entries(settings.concurrency);
    this.#execution = new Execution(settings, this.#counts, this.#entries);
  }

  get summary(): BulkCounts {
    return this.#counts.summary;
  }

  get progress(): BulkProgress {
    const { total, underWay, resolving } = this.#execution;
    const pausedUntil = this.#settings.client.rateLimit?.pausedUntil;
    const pauseMs = pausedUntil === undefined ? 0 : pausedUntil.getTime() - Date.now();
    return { ...this.summary, ...this.#counts.pace(total, pauseMs), total, underWay, resolving, pausedUntil };
  }

  get stoppedBy(): AutomationError | undefined {
    return this.#execution.stoppedBy;
  }

  // biome-ignore lint/suspicious/noThenProperty: a run can be awaited
  then<Next = BulkSummary, Failure = never>(
    onFulfilled?: ((summary: BulkSummary) => Next | PromiseLike<Next>) | null,
    onRejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Next | Failure> {
    return this.#finish().then(onFulfilled, onRejected);
  }

  catch<Failure = never>(
    onRejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<BulkSummary | Failure> {
    return this.#finish().catch(onRejected);
  }

  finally(onEnd?: (() => void) | null): Promise<BulkSummary> {
    return this.#finish().finally(onEnd);
  }

  [Symbol.asyncIterator](): AsyncIterator<BulkEntry<Item, Result>, undefined> {
    withCallerStack(this[Symbol.asyncIterator], () => {
      if (!this.#isIterated && this.#work === undefined) return;
      throw new ArgumentError("a run can be iterated only once, and not after it was awaited", { outcome: "not_sent" });
    });
    this.#isIterated = true;
    return { next: () => this.#next(), return: () => this.#leave() };
  }

  async #finish(): Promise<BulkSummary> {
    if (!this.#isIterated) {
      this.#entries.leave(); // an awaited run has no reader
      await this.#begun();
    } else if (!this.#entries.isOver) {
      // In the loop that takes its entries, the end would never come.
      throw this.#fromCaller(
        new ArgumentError("a run that is being iterated cannot be awaited before its end", { outcome: "not_sent" }),
      );
    }
    return this.#result();
  }

  async #next(): Promise<IteratorResult<BulkEntry<Item, Result>, undefined>> {
    void this.#begun();
    const value = await this.#entries.take();
    if (value !== undefined) return { done: false, value };
    this.#result();
    return { done: true, value: undefined };
  }

  /** The caller left its loop: the run ends in order before the loop does. */
  async #leave(): Promise<IteratorResult<never, undefined>> {
    this.#entries.leave();
    if (!this.#entries.isOver) this.#execution.stop(new AbortError("the iteration of the run was left early"));
    await this.#begun();
    const { failure } = this.#execution;
    if (failure !== undefined) throw this.#fromCaller(failure);
    return { done: true, value: undefined };
  }

  #begun(): Promise<void> {
    this.#work ??= this.#execution.run();
    return this.#work;
  }

  /** @throws The failure of the run, or a `BulkError` if an item is left. */
  #result(): BulkSummary {
    const { error, stoppedBy } = this.#execution;
    if (stoppedBy?.kind === "abort") this.#toCaller(stoppedBy);
    if (error !== undefined) throw this.#fromCaller(error);
    const { done, skipped } = this.summary;
    return { done, skipped };
  }

  #fromCaller<Failure>(error: Failure): Failure {
    this.#toCaller(error);
    return error;
  }
}
