import type { Journal, JournalRecord } from "./journal.ts";

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
  const latest = new Map<string, JournalRecord>();
  return {
    load: () => [...latest.values()],
    append: (records) => {
      for (const record of records) latest.set(record.key, record);
    },
  };
}
