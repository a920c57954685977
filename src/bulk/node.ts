/** The journal of `project-automation/bulk` in a file: `project-automation/bulk/node`. Needs Node. */
export { type FileJournal, type FileJournalOptions, fileJournal } from "./node/file-journal.ts";
