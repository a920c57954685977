import type { JournalRecord } from "./journal.ts";

/** The records of one item that a run adds to its journal. */
export class ItemRecords {
  /** The state of the latest one; absent if this run has added none. */
  latest: JournalRecord["state"] | undefined;
  readonly #key: string;
  readonly #append: (record: JournalRecord) => Promise<void>;

  /** `append` resolves when the record is durable. If it is not, it stops the run. */
  constructor(key: string, append: (record: JournalRecord) => Promise<void>) {
    this.#key = key;
    this.#append = append;
  }

  /** Resolves when the record is durable. @throws JournalError if it cannot be stored. */
  async add({ state, reference, reason }: Omit<JournalRecord, "key" | "at">): Promise<void> {
    // Before the wait: if the item ends during it, this record has to be followed by another.
    this.latest = state;
    await this.#append({
      key: this.#key,
      state,
      at: new Date().toISOString(),
      ...(reference === undefined ? {} : { reference }),
      ...(reason === undefined ? {} : { reason }),
    });
  }

  /** As `add`, and resolves with whether it is durable. */
  addIfPossible(record: Omit<JournalRecord, "key" | "at">): Promise<boolean> {
    return this.add(record).then(
      () => true,
      () => false,
    );
  }
}
