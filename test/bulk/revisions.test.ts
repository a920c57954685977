/** Each record has a revision, by which a store of several processes refuses the second of two runs. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { bulkWrite, type Journal, JournalError, type JournalRecord, memoryJournal } from "../../src/bulk/index.ts";
import { fileJournal } from "../../src/bulk/node.ts";
import { issueCounts, key, rowsOf, runToEnd, send, service } from "./rows.ts";
import { WatchedJournal } from "./watched-journal.ts";

describe("the revision of a record", () => {
  test("is one more than that of its key before it", async () => {
    const { emulator, client } = service();
    emulator.fault({ status: 429, headers: { "retry-after": "0" } });
    const journal = new WatchedJournal();
    await bulkWrite({ client, items: rowsOf(2), key, send, journal, concurrency: 1 });
    const first = journal.records.filter((record) => record.key === "row-1");
    expect(first.map(({ state, revision }) => [state, revision])).toEqual([
      ["sending", 1],
      ["not_sent", 2],
      ["sending", 3],
      ["done", 4],
    ]);
  });

  test.each<[string, (folder: string) => Journal]>([
    ["fileJournal", (folder) => fileJournal(join(folder, "import.journal"))],
    ["memoryJournal", () => memoryJournal()],
  ])("is kept by %s, so the records can move to a store", async (_, open) => {
    const folder = mkdtempSync(join(tmpdir(), "revisions-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const { client } = service();
    const journal = open(folder);
    await bulkWrite({ client, items: rowsOf(3), key, send, journal });
    const latest = new Map<string, number | undefined>();
    for await (const { key, revision } of await journal.load()) latest.set(key, revision);
    await journal.close?.();
    expect(Object.fromEntries(latest)).toEqual({ "row-1": 2, "row-2": 2, "row-3": 2 });
  });
});

describe("of two runs on a store in which key and revision are unique", () => {
  /** Views of one store, each loaded before another has recorded anything. */
  function store() {
    const stored: JournalRecord[] = [];
    const refused: (readonly JournalRecord[])[] = [];
    const view = (): Journal => ({
      load: () => [],
      append: (records) => {
        const isTaken = records.some((one) => stored.some((it) => it.key === one.key && it.revision === one.revision));
        if (isTaken) {
          refused.push(records);
          throw new JournalError("another worker has recorded this step", { reason: "in_use" });
        }
        stored.push(...records);
      },
    });
    return { view, stored, refused };
  }

  test("one conflict refuses the batch: none of its items is sent", async () => {
    const { emulator, client } = service();
    const { view, stored, refused } = store();
    const options = { client, key, send };
    await bulkWrite({ ...options, items: rowsOf(1), journal: view() });
    const { states, error } = await runToEnd(bulkWrite({ ...options, items: rowsOf(5), journal: view() }));
    expect(refused.map((records) => records.length)).toEqual([5]);
    expect(error).toMatchObject({ kind: "journal", reason: "in_use" });
    expect(Object.values(states)).toEqual(Array(5).fill("not_sent"));
    expect(issueCounts(emulator)).toEqual({ "Issue 1": 1 });
    expect(stored.map(({ state }) => state)).toEqual(["sending", "done"]);
  });
});
