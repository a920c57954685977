import type { Journal, JournalContents, JournalRecord } from "./journal.ts";

/**
 * Creates a journal that ends with the process: for tests, and for jobs that need not survive a crash. It keeps the last
 * record of each key, and can be passed to one run after another, but not to two at once.
 *
 * @returns A journal without records.
 *
 * @example
 * const journal = memoryJournal();
 * await bulkWrite({ client, items, key, send, journal });
 */
export function memoryJournal(): Journal {
  return new MemoryJournal();
}

class MemoryJournal implements Journal {
  readonly #latest = new Map<string, JournalRecord>();

  load(): JournalContents {
    return [...this.#latest.values()];
  }

  append(records: readonly JournalRecord[]): void {
    for (const record of records) this.#latest.set(record.key, record);
  }
}
