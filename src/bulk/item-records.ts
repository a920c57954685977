import type { JournalRecord } from "./journal.ts";

type Facts = Pick<JournalRecord, "state" | "reference" | "reason">;

export class ItemRecords {
  /** The state of the latest one; absent if this run has added none. */
  latest: JournalRecord["state"] | undefined;
  /** The address of the write. */
  service: string;
  readonly #key: string;
  readonly #append: (record: JournalRecord) => Promise<void>;
  #revision = 0;
  /** Settles when the latest record is durable, or cannot be stored. */
  #stored: Promise<void> = Promise.resolve();

  /** `append` resolves when the record is durable. If it is not, it stops the run. */
  constructor(key: string, service: string, append: (record: JournalRecord) => Promise<void>) {
    this.#key = key;
    this.service = service;
    this.#append = append;
  }

  follow(known: Pick<JournalRecord, "revision"> | undefined): void {
    this.#revision = known?.revision ?? 0;
  }

  add({ state, reference, reason }: Facts): Promise<void> {
    // Before the wait: if the item ends during it, this record has to be followed by another.
    this.latest = state;
    this.#revision += 1;
    this.#stored = this.#append({
      key: this.#key,
      state,
      at: new Date().toISOString(),
      service: this.service,
      revision: this.#revision,
      ...(reference === undefined ? {} : { reference }),
      ...(reason === undefined ? {} : { reason }),
    });
    return this.#stored;
  }

  addIfPossible(record: Facts): Promise<boolean> {
    return this.add(record).then(
      () => true,
      () => false,
    );
  }

  /**
   * Resolves when the end of the item is durable, by this or another part of the run, or when the journal has failed. `isKnown`:
   * no record is needed.
   */
  async end(end: Facts, isKnown = false): Promise<void> {
    const isRecorded = this.latest === "done" && end.state === "done" && end.reference === undefined;
    if (!isKnown && !isRecorded) await this.addIfPossible(end);
    else await this.#stored.catch(() => {}); // its writer has stopped the run
  }
}
