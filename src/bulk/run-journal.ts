import type { JournalError } from "../client/errors/journal-error.ts";
import { platformTurn } from "../client/time/clock.ts";
import { checkRecord, type Journal, type JournalRecord, type Known } from "./journal.ts";
import { asJournalError } from "./thrown.ts";
import type { Turns } from "./turns.ts";

/**
 * The journal of a run. Records are appended one batch at a time: those that are ready at the same moment, or that come
 * while a batch is being stored, share the next batch, and so its flush. After a failure nothing is appended any more.
 */
export class RunJournal {
  readonly #journal: Journal;
  readonly #onFailure: (error: JournalError) => void;
  #collected: JournalRecord[] = [];
  /** The batch being stored. */
  #current: Promise<void> = Promise.resolve();
  /** The batch being collected. */
  #next: Promise<void> | undefined;
  #failure: JournalError | undefined;
  /** Another run uses it, so this one must not close it. */
  #isForeign = false;

  /** `onFailure` is called once, with the first record that could not be stored. */
  constructor(journal: Journal, onFailure: (error: JournalError) => void) {
    this.#journal = journal;
    this.#onFailure = onFailure;
  }

  /**
   * Resolves with what the journal says of each key. Keys that are `not_sent` are left out: to send, they are as good as
   * keys that were never there.
   *
   * @throws JournalError if it cannot be read, or if another run uses it.
   */
  async load(turns: Turns): Promise<Map<string, Known>> {
    const known = new Map<string, Known>();
    let position = 0;
    try {
      for await (const record of await this.#journal.load()) {
        position += 1;
        note(known, checkRecord(record, position));
        if (turns.isDue) await turns.take();
      }
    } catch (error) {
      throw this.#loadError(error);
    }
    return known;
  }

  /** Lets other runs use it, unless another run does already. For a run that has not loaded it. */
  async discard(): Promise<void> {
    try {
      for await (const _ of await this.#journal.load()) break;
    } catch (error) {
      this.#loadError(error);
    }
    await this.close();
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

  /** @throws JournalError if it cannot be closed. */
  async close(): Promise<void> {
    if (this.#isForeign) return;
    try {
      await this.#journal.close?.();
    } catch (error) {
      throw asJournalError(error, "be closed");
    }
  }

  #loadError(error: unknown): JournalError {
    const failure = asJournalError(error, "be loaded");
    this.#isForeign = failure.reason === "in_use";
    return failure;
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

function note(known: Map<string, Known>, { key, state, at, reference }: JournalRecord): void {
  const before = known.get(key);
  if (state === "not_sent") known.delete(key);
  // When it was sent says more than when its outcome was found to be unknown.
  else if (state === "unknown" && before?.state === "sending") known.set(key, { state, at: before.at });
  else known.set(key, { state, at, ...(reference === undefined ? {} : { reference }) });
}
