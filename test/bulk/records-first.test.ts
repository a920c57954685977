/** A record comes before the word: entries, counts and the end of a run wait for the record of each end, whoever wrote it. */
import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bulkWrite, type JournalRecord } from "../../src/bulk/index.ts";
import { fileJournal } from "../../src/bulk/node.ts";
import type { Client } from "../../src/client/index.ts";
import { platformTurn } from "../../src/core/time/clock.ts";
import { answering, send as create, key, type Row, rowsOf, runToEnd, service } from "./rows.ts";
import { WatchedJournal } from "./watched-journal.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "bulk-records-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** Stores records some turns after it was given them, and notes what is durable and whether it was closed too early. */
class SlowJournal extends WatchedJournal {
  readonly durable: JournalRecord[] = [];
  readonly faults: string[] = [];
  #appending = 0;
  readonly #turns: number;

  constructor(turns: number) {
    super();
    this.#turns = turns;
  }

  override async append(records: readonly JournalRecord[]): Promise<void> {
    if (this.closed > 0) this.faults.push("appended after its end");
    this.#appending += 1;
    for (let turn = 0; turn < this.#turns; turn += 1) await platformTurn();
    try {
      await super.append(records);
      this.durable.push(...records);
    } finally {
      this.#appending -= 1;
    }
  }

  override close(): ReturnType<WatchedJournal["close"]> {
    if (this.#appending > 0) this.faults.push("closed while it was appended to");
    return super.close();
  }

  /** The latest durable state of each key. */
  get states(): Record<string, string> {
    return Object.fromEntries(this.durable.map((record) => [record.key, record.state]));
  }
}

/** What `send` does after its write. */
const AFTERWARDS: readonly [string, (client: Client) => unknown][] = [
  ...[0, 1, 2, 3, 7].map((turns): [string, () => Promise<void>] => [
    `${turns} turns of the platform`,
    async () => {
      for (let turn = 0; turn < turns; turn += 1) await platformTurn();
    },
  ]),
  ["a microtask", () => undefined],
  ["a timer", () => setTimeout(1)],
  ["two immediates", () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))],
  ["a file", () => appendFile(join(folder, "log"), "x")],
  ["a request", (client) => client.sessions.get("ses_1")],
];

const after =
  (work: (client: Client) => unknown) =>
  async (client: Client, row: Row): Promise<unknown> => {
    const made = await create(client, row);
    await work(client);
    return made;
  };

describe.each(AFTERWARDS)("send goes on after its write with %s:", (_, work) => {
  test.each([0, 1, 5])("every entry is durable when it comes, with a journal of %d turns", async (turns) => {
    const { client } = service();
    const journal = new SlowJournal(turns);
    const run = bulkWrite({ client, items: rowsOf(12), key, send: after(work), journal, concurrency: 4 });
    for await (const entry of run) expect(journal.states[entry.key]).toBe(entry.state);
    expect(journal.states).toEqual(Object.fromEntries(rowsOf(12).map((row) => [row.id, "done"])));
    expect([journal.closed, journal.faults]).toEqual([1, []]);
  });

  test("a run that is awaited leaves a file of which the next run believes everything", async () => {
    const { client } = service();
    const options = { client, items: rowsOf(12), key, send: after(work) };
    const path = join(folder, "import.journal");
    expect(await bulkWrite({ ...options, journal: fileJournal(path) })).toEqual({ done: 12, skipped: 0 });
    const again = await bulkWrite({ ...options, journal: fileJournal(path) });
    expect(again).toMatchObject({ done: 12, skipped: 12 });
  });

  test("the counts never run ahead of the journal", async () => {
    const { client } = service();
    const journal = new SlowJournal(3);
    const run = bulkWrite({ client, items: rowsOf(8), key, send: after(work), journal, concurrency: 4 });
    const ended = run.then((summary) => summary);
    while (run.summary.done < 8) {
      const stored = Object.values(journal.states).filter((state) => state === "done").length;
      expect(run.summary.done).toBeLessThanOrEqual(stored);
      await platformTurn();
    }
    expect(await ended).toMatchObject({ done: 8 });
  });
});

test("a call that send left behind, and that is answered after the end, records nothing", async () => {
  const { emulator, client } = service();
  const journal = new SlowJournal(1);
  const stop = new AbortController();
  let answer = (): void => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const fetch = async (...args: Parameters<typeof emulator.fetch>): Promise<Response> => {
    stop.abort();
    await answered; // it does not heed its signal
    return await emulator.fetch(...args);
  };
  const slow = client.withOptions({ fetch: answering(fetch) });
  const options = { client: slow, items: rowsOf(1), key, send: create, journal, graceMs: 0 };
  const { states } = await runToEnd(bulkWrite({ ...options, signal: stop.signal }));
  expect(states).toEqual({ "row-1": "unknown" });
  answer();
  for (let turn = 0; turn < 20; turn += 1) await platformTurn();
  expect([journal.closed, journal.faults]).toEqual([1, []]);
});
