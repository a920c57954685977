import type { BulkSummary } from "./progress.ts";

/** The part of a run that makes it like a promise of its end: awaiting it is `finish`. */
export abstract class AwaitedRun {
  abstract finish(): Promise<BulkSummary>;

  // biome-ignore lint/suspicious/noThenProperty: a run can be awaited
  then<Next = BulkSummary, Failure = never>(
    onFulfilled?: ((summary: BulkSummary) => Next | PromiseLike<Next>) | null,
    onRejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Next | Failure> {
    return this.finish().then(onFulfilled, onRejected);
  }

  catch<Failure = never>(
    onRejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<BulkSummary | Failure> {
    return this.finish().catch(onRejected);
  }

  finally(onEnd?: (() => void) | null): Promise<BulkSummary> {
    return this.finish().finally(onEnd);
  }
}
