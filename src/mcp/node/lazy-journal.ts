import type { Journal, JournalRecord } from "../../bulk/journal.ts";
import { type FileJournal, fileJournal } from "../../bulk/node.ts";
import { JournalError } from "../../client/errors/journal-error.ts";

/** A journal in a file that is opened each time it is loaded, and not before: one that cannot be used ends no program. */
export function lazyJournal(path: string): Required<Journal> {
  let file: FileJournal | undefined;
  return {
    async load() {
      file = await fileJournal(path);
      return file.load();
    },
    async append(records: readonly JournalRecord[]) {
      if (file === undefined) throw new JournalError("the journal is closed", { reason: "misused" });
      await file.append(records);
    },
    async close() {
      const opened = file;
      file = undefined;
      await opened?.close();
    },
  };
}
