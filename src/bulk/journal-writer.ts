import { platformTurn } from "../clock.ts";
import type { Journal, JournalRecord } from "./journal.ts";
import { asJournalError, type JournalError } from "./journal-error.ts";

/**
 * Appends records to a journal, one batch at a time. Records that are ready at the same moment, or that come while a
 * batch is being stored, share the next batch, and so its flush. After a failure nothing is appended any more.
 */
export class JournalWriter {
  readonly #journal: Journal;
  readonly #onFailure: (error: JournalError) => void;
  #collected: JournalRecord[] = [];
  /** The batch being stored. */
  #current: Promise<void> = Promise.resolve();
  /** The batch being collected. */
  #next: Promise<void> | undefined;
  #failure: JournalError | undefined;

  /** `onFailure` is called once, with the first failure. */
  constructor(journal: Journal, onFailure: (error: JournalError) => void) {
    this.#journal = journal;
    this.#onFailure = onFailure;
  }

  /**
   * Resolves when the record is durable.
   *
   * @throws JournalError if this or an earlier batch could not be stored.
   */
  write(record: JournalRecord): Promise<void> {
    this.#collected.push(record);
    this.#next ??= this.#store(this.#current);
    return this.#next;
  }

  async #store(previous: Promise<void>): Promise<void> {
    await previous.catch(() => {}); // its own writers see the error
    await platformTurn();
    const batch = this.#collected;
    this.#collected = [];
    this.#current = this.#next ?? previous;
    this.#next = undefined;
    if (this.#failure !== undefined) throw this.#failure;
    try {
      await this.#journal.append(batch);
    } catch (error) {
      this.#failure = asJournalError(error, "be written");
      this.#onFailure(this.#failure);
      throw this.#failure;
    }
  }
}
