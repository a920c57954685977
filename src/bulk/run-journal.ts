import { shared } from "../core/checks/globals.ts";
import { JournalError } from "../core/errors/journal-error.ts";
import { platformTurn } from "../core/time/clock.ts";
import { type Journal, type JournalRecord, type Known, parseContents, parseRecord } from "./journal.ts";
import { asJournalError, type ReadThrown } from "./thrown.ts";
import type { Turns } from "./turns.ts";

/** One object serves one run at a time, whichever copy of the package the run is of. */
const usedJournals = (): WeakSet<object> => shared("journals-in-use", () => new WeakSet());

/**
 * The journal of a run. Records are appended one batch at a time: those that are ready at the same moment, or that come while
 * a batch is being stored, share the next batch, and so its flush. After a failure nothing is appended.
 */
export class RunJournal {
  readonly #journal: Journal;
  readonly #onFailure: (error: JournalError) => void;
  readonly #readThrown: ReadThrown | undefined;
  #collected: JournalRecord[] = [];
  #current: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  #failure: JournalError | undefined;
  /** This run has loaded it, so no other one may. */
  #isOurs = false;

  /**
   * `onFailure` is called once, when a batch could not be stored. `readThrown` takes the secrets of the client out of what the
   * journal throws.
   */
  constructor(journal: Journal, onFailure: (error: JournalError) => void, readThrown?: ReadThrown) {
    this.#journal = journal;
    this.#onFailure = onFailure;
    this.#readThrown = readThrown;
  }

  /**
   * Opens the journal, and resolves with the latest record of each key.
   *
   * @throws JournalError if it cannot be read, or if another run uses it.
   */
  async load(turns: Turns): Promise<Map<string, Known>> {
    if (usedJournals().has(this.#journal))
      throw new JournalError("another run uses this journal", { reason: "in_use" });
    this.#hold(true);
    const known = new Map<string, Known>();
    let position = 0;
    try {
      for await (const record of parseContents(await this.#journal.load())) {
        position += 1;
        note(known, parseRecord(record, position));
        if (turns.isDue) await turns.take();
      }
    } catch (error) {
      const failure = asJournalError(error, "be loaded", this.#readThrown);
      // Another run has it, so this one must not close it.
      if (failure.reason === "in_use") this.#hold(false);
      throw failure;
    }
    return known;
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

  /** Lets other runs use it. @throws JournalError if it cannot be closed. */
  async close(): Promise<void> {
    if (!this.#isOurs) return;
    try {
      await this.#journal.close?.();
    } catch (error) {
      throw asJournalError(error, "be closed", this.#readThrown);
    } finally {
      this.#hold(false);
    }
  }

  #hold(isOurs: boolean): void {
    this.#isOurs = isOurs;
    if (isOurs) usedJournals().add(this.#journal);
    else usedJournals().delete(this.#journal);
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
      this.#failure = asJournalError(error, "be written", this.#readThrown);
      this.#onFailure(this.#failure);
      throw this.#failure;
    }
  }
}

function note(known: Map<string, Known>, { key, ...record }: JournalRecord): void {
  const before = known.get(key);
  // When it was sent says more than when its outcome was found to be unknown.
  const isSameRequest = record.state === "unknown" && before?.state === "sending";
  known.set(key, isSameRequest ? { ...record, at: before.at } : record);
}
