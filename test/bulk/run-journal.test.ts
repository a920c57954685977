/** A journal object serves one run at a time, and takes nothing after a failure. */
import { describe, expect, test } from "vitest";
import { bulkWrite, type Journal, type JournalRecord, memoryJournal } from "../../src/bulk/index.ts";
import { RunJournal } from "../../src/bulk/run-journal.ts";
import { Turns } from "../../src/bulk/turns.ts";
import { settleDown } from "../support/fake-time.ts";
import { rejection } from "../support/promises.ts";
import { key, rowsOf, send, service } from "./rows.ts";
import { WatchedJournal } from "./watched-journal.ts";

const at = "2026-01-01T09:30:00.000Z";
const record = (name: string, state: JournalRecord["state"]): JournalRecord => ({ key: name, state, at });

describe("one object", () => {
  const bare = (): Journal => ({ load: () => [], append: () => undefined });
  test.each<[string, () => Journal]>([
    ["memoryJournal", memoryJournal],
    ["a journal that locks nothing", bare],
  ])("of %s serves one run at a time, and one after the other", async (_, make) => {
    const { emulator, client } = service();
    const options = { client, items: rowsOf(9), key, send, journal: make() };
    const first = bulkWrite(options).then((summary) => summary);
    expect(await rejection(bulkWrite(options))).toMatchObject({ kind: "journal", reason: "in_use" });
    expect(await first).toMatchObject({ done: 9 });
    expect(emulator.requests).toHaveLength(9);
    await bulkWrite(options);
  });
});

test("one batch is stored at a time, and those that come meanwhile share the next one", async () => {
  const batches: string[][] = [];
  let stored = (): void => {};
  const append = (records: readonly JournalRecord[]): Promise<void> => {
    batches.push(records.map((each) => each.key));
    return new Promise((resolve) => {
      stored = resolve;
    });
  };
  const records = new RunJournal({ load: () => [], append }, () => {});
  await records.load(new Turns());
  const all = [records.write(record("a", "sending"))];
  await settleDown();
  all.push(...["b", "c"].map((name) => records.write(record(name, "sending"))));
  await settleDown();
  expect(batches).toEqual([["a"]]);
  stored();
  await expect.poll(() => batches).toEqual([["a"], ["b", "c"]]);
  stored();
  await Promise.all(all);
});

test("nothing is stored after a failure, which is told once", async () => {
  const journal = new WatchedJournal();
  const failures: unknown[] = [];
  const records = new RunJournal(journal, (error) => failures.push(error));
  await records.load(new Turns());
  await records.write(record("a", "sending"));
  journal.space = 1;
  const [first, second] = [records.write(record("a", "done")), rejection(records.write(record("b", "sending")))];
  await expect(first).rejects.toMatchObject({ reason: "failed", cause: { code: "ENOSPC" } });
  await second;
  journal.space = Number.POSITIVE_INFINITY;
  await expect(records.write(record("c", "sending"))).rejects.toMatchObject({ reason: "failed" });
  await records.close();
  expect(journal.records).toEqual([record("a", "sending")]);
  expect([journal.closed, failures.length]).toEqual([1, 1]);
});
