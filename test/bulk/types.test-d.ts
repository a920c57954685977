import {
  type BulkEntry,
  type BulkReason,
  type BulkRun,
  bulkWrite,
  type Journal,
  memoryJournal,
} from "../../src/bulk/index.ts";
import { type FileJournal, fileJournal } from "../../src/bulk/node.ts";
import { Client, type Issue } from "../../src/client/index.ts";

const client = new Client();
const rows = [{ id: "A-1", title: "Login page is blank" }];
const options = {
  client,
  items: rows,
  key: (row: { id: string }) => row.id,
  journal: memoryJournal(),
};

// The item and the result are those of `items` and `send`.
const run: BulkRun<{ id: string; title: string }, Issue> = bulkWrite({
  ...options,
  send: (bound, row) => bound.issues.create("web", { title: row.title, type: "bug" }),
  reference: (issue, row) => `${row.id} ${issue.number}`,
  resolveUnknown: async (row, { key, recordedAt }) =>
    row.id === key && recordedAt.getTime() > 0 ? "applied" : "undecided",
  stopAfter: false,
});
for await (const entry of run) {
  const { item, result, state, reason }: BulkEntry<{ id: string; title: string }, Issue> = entry;
  console.log(item.title, result?.number, state satisfies "done" | "refused" | "not_sent" | "unknown");
  const { kind, message, recordedAt }: Partial<BulkReason> = reason ?? {};
  if (kind === "interrupted") console.log(message, recordedAt);
}

// A run can be awaited.
const { done }: { readonly done: number } = await bulkWrite({ ...options, send: async () => 1 });
console.log(done);
await Promise.all([bulkWrite({ ...options, send: async () => 1 })]);

const file: FileJournal = fileJournal("import.journal");
fileJournal(new URL("import.journal", import.meta.url), { id: "issues" });
file satisfies Journal;
({ load: () => [], append: async () => {} }) satisfies Journal;
({ async *load() {}, append: () => undefined }) satisfies Journal;

// @ts-expect-error a journal is required
void bulkWrite({ client, items: rows, key: options.key, send: async () => 1 });
// @ts-expect-error a client is required
void bulkWrite({ items: rows, key: options.key, send: async () => 1, journal: memoryJournal() });
void bulkWrite({ ...options, send: async () => 1, journal: fileJournal("import.journal") });
// @ts-expect-error a key is a string
void bulkWrite({ ...options, send: async () => 1, key: () => 7 });
// @ts-expect-error there is no such resolution
void bulkWrite({ ...options, send: async () => 1, resolveUnknown: async () => "maybe" });
// TypeScript keeps one literal of an async function only where nothing but a promise is expected.
void bulkWrite({ ...options, send: async () => 1, resolveUnknown: async () => "undecided" });
