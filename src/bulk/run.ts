import { AbortError, ArgumentError, type AutomationError } from "../client/index.ts";
import { type CallerStack, withCallerStack } from "../core/errors/caller-stack.ts";
import { JournalError } from "../core/errors/journal-error.ts";
import { AwaitedRun } from "./awaited-run.ts";
import type { BulkEntry, BulkRun } from "./bulk-run.ts";
import { Entries } from "./entries.ts";
import { Execution } from "./execution.ts";
import type { BulkSettings } from "./options.ts";
import { type BulkProgress, type BulkSummary, Counts } from "./progress.ts";

const INSPECT: unique symbol = Symbol.for("nodejs.util.inspect.custom");

/** Of a run that began no item: each item that is left is `unknown`. */
function undecided({ done, refused, unknown }: BulkSummary, cause: AutomationError | undefined): JournalError {
  const counts = `${done} done, ${refused} refused, ${unknown} unknown`;
  const message = `nothing was sent: earlier runs left the outcome of each remaining item unknown (${counts}); look at the service, and let resolveUnknown return "applied" or "not_applied"`;
  return new JournalError(message, { reason: "undecided", cause });
}

/** A run as its caller sees it: entries to be taken, and progress. */
export class Run<Item, Result> extends AwaitedRun implements BulkRun<Item, Result> {
  readonly #settings: BulkSettings<Item, Result>;
  readonly #counts = new Counts();
  readonly #entries: Entries<BulkEntry<Item, Result>>;
  readonly #execution: Execution<Item, Result>;
  #end: Promise<void> | undefined;
  #isIterated = false;
  #finished: Promise<BulkSummary> | undefined;
  #hasRejected = false;
  readonly #toCaller: CallerStack;

  /** @param toCaller lets the stack of an error of the run begin where the run was created */
  constructor(settings: BulkSettings<Item, Result>, toCaller: CallerStack) {
    super();
    this.#settings = settings;
    this.#toCaller = toCaller;
    this.#entries = new Entries(settings.concurrency);
    this.#execution = new Execution(settings, this.#counts, this.#entries);
  }

  get summary(): BulkSummary {
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

  override finish(): Promise<BulkSummary> {
    this.#finished ??= this.#isIterated ? undefined : this.#runToEnd();
    return this.#finished ?? this.#endOfIteration();
  }

  /** @internal Printed in Node's console before it begins, it says how to begin. */
  [INSPECT](): string {
    return `BulkRun { ${this.#isIterated ? "begun" : "not begun: await it, or use for await"} }`;
  }

  [Symbol.asyncIterator](): AsyncIterator<BulkEntry<Item, Result>, undefined> {
    withCallerStack(this[Symbol.asyncIterator], () => {
      if (!this.#isIterated) return;
      throw new ArgumentError("a run can be iterated only once, and not after it was awaited", { outcome: "not_sent" });
    });
    this.#isIterated = true;
    return { next: () => this.#next(), return: () => this.#leave() };
  }

  async #runToEnd(): Promise<BulkSummary> {
    this.#isIterated = true;
    this.#entries.leave(); // an awaited run has no reader
    this.#end = this.#execution.run();
    await this.#end;
    return this.#result();
  }

  /** While its entries are being taken, the end of a run may never come to who waits for it in that loop. */
  async #endOfIteration(): Promise<BulkSummary> {
    if (this.#entries.isOver) return this.#result();
    const message = "a run that is being iterated cannot be awaited before its end";
    throw this.#named(new ArgumentError(message, { outcome: "not_sent" }));
  }

  #named<Failure>(error: Failure): Failure {
    this.#toCaller(error);
    return error;
  }

  #result(): BulkSummary {
    const { stoppedBy } = this;
    if (stoppedBy !== undefined) throw this.#named(stoppedBy);
    const { summary } = this;
    if (this.#counts.hasThrough || summary.not_sent + summary.unknown === 0) return summary;
    throw this.#named(this.#execution.firstError ?? undecided(summary, this.#execution.unresolvedBy));
  }

  async #next(): Promise<IteratorResult<BulkEntry<Item, Result>, undefined>> {
    this.#end ??= this.#execution.run();
    const value = await this.#entries.take();
    return value === undefined ? this.#finalResult() : { done: false, value };
  }

  /** The caller left its loop: the run ends in order before the loop does. */
  async #leave(): Promise<IteratorResult<BulkEntry<Item, Result>, undefined>> {
    this.#entries.leave();
    if (!this.#entries.isOver) this.#execution.stop(new AbortError("the iteration of the run was left early"));
    this.#end ??= this.#execution.run();
    await this.#end;
    return this.#finalResult();
  }

  /** @throws The failure of the run, once. */
  #finalResult(): IteratorResult<never, undefined> {
    const { failure } = this.#execution;
    if (failure !== undefined && !this.#hasRejected) {
      this.#hasRejected = true;
      throw this.#named(failure);
    }
    return { done: true, value: undefined };
  }
}
