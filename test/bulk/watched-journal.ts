import { type Journal, type JournalRecord, memoryJournal } from "../../src/bulk/index.ts";

/** A journal in memory that notes what is done with it, and can run out of space. */
export class WatchedJournal implements Journal {
  /** What was appended, batch by batch. */
  readonly batches: (readonly JournalRecord[])[] = [];
  closed = 0;
  /** How many records it takes. */
  space: number = Number.POSITIVE_INFINITY;
  readonly #inner = memoryJournal();

  get records(): JournalRecord[] {
    return this.batches.flat();
  }

  load(): ReturnType<Journal["load"]> {
    return this.#inner.load();
  }

  append(records: readonly JournalRecord[]): ReturnType<Journal["append"]> {
    if (this.records.length + records.length > this.space) {
      throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
    }
    this.batches.push(records);
    return this.#inner.append(records);
  }

  close(): ReturnType<NonNullable<Journal["close"]>> {
    this.closed += 1;
    return this.#inner.close?.();
  }
}
