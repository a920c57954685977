import { ignoreErrors } from "../client/checks/ignore-errors.ts";
import type { AutomationError } from "../client/errors/automation-error.ts";
import { withCallerStack } from "../client/errors/caller-stack.ts";
import { AbortError, ArgumentError } from "../client/errors/classes.ts";
import type { BulkEntry, BulkRun } from "./bulk-run.ts";
import { Entries } from "./entries.ts";
import { Execution } from "./execution.ts";
import type { Settings } from "./options.ts";
import { type BulkProgress, type BulkSummary, Counts } from "./progress.ts";

/** A run as its caller sees it: entries to be taken, and how far it has come. */
export class Run<Item, Result> implements BulkRun<Item, Result> {
  readonly #settings: Settings<Item, Result>;
  readonly #counts = new Counts();
  readonly #entries: Entries<BulkEntry<Item, Result>>;
  readonly #execution: Execution<Item, Result>;
  #end: Promise<void> | undefined;
  #isIterated = false;
  #hasRejected = false;

  constructor(settings: Settings<Item, Result>) {
    this.#settings = settings;
    this.#entries = new Entries(settings.concurrency);
    this.#execution = new Execution(settings, this.#counts, this.#entries);
  }

  get summary(): BulkSummary {
    return this.#counts.summary;
  }

  get progress(): BulkProgress {
    const { total, underWay, resolving } = this.#execution;
    const pausedUntil = this.#pausedUntil();
    const pauseMs = pausedUntil === undefined ? 0 : pausedUntil.getTime() - Date.now();
    return { ...this.summary, ...this.#counts.pace(total, pauseMs), total, underWay, resolving, pausedUntil };
  }

  get stoppedBy(): AutomationError | undefined {
    return this.#execution.stoppedBy;
  }

  finish(): Promise<BulkSummary> {
    return withCallerStack(this.finish, async () => {
      for await (const _ of this);
      return this.summary;
    });
  }

  [Symbol.asyncIterator](): AsyncIterator<BulkEntry<Item, Result>, undefined> {
    withCallerStack(this[Symbol.asyncIterator], () => {
      if (this.#isIterated) throw new ArgumentError("a run can be iterated only once", { outcome: "not_sent" });
    });
    this.#isIterated = true;
    const next: AsyncIterator<BulkEntry<Item, Result>, undefined>["next"] = () =>
      withCallerStack(next, () => this.#next());
    return { next, return: () => this.#leave() };
  }

  async #next(): Promise<IteratorResult<BulkEntry<Item, Result>, undefined>> {
    this.#end ??= this.#execution.run();
    const value = await this.#entries.take();
    return value === undefined ? this.#finalResult() : { done: false, value };
  }

  /** The caller left its loop: the run ends in order before the loop does. */
  async #leave(): Promise<IteratorResult<BulkEntry<Item, Result>, undefined>> {
    this.#entries.leave();
    if (!this.#entries.isOver) this.#execution.end(new AbortError("the iteration of the run was left early"));
    this.#end ??= this.#execution.run();
    await this.#end;
    return this.#finalResult();
  }

  /** @throws What made the run fail, once. */
  #finalResult(): IteratorResult<never, undefined> {
    const { failure } = this.#execution;
    if (failure !== undefined && !this.#hasRejected) {
      this.#hasRejected = true;
      throw failure;
    }
    return { done: true, value: undefined };
  }

  /** A function of the caller's, which may fail. */
  #pausedUntil(): Date | undefined {
    try {
      const until = this.#settings.pausedUntil?.();
      if (until === undefined || typeof until.getTime === "function") return until;
      ignoreErrors(() => until); // a promise may reject
    } catch {
      // A progress line must not end a run.
    }
    return undefined;
  }
}
