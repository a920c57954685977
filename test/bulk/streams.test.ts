/** Items that come one by one, entries that are taken one by one, and how far the run has come. */
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { bulkWrite, memoryJournal } from "../../src/bulk/index.ts";
import { settleDown } from "../support/fake-time.ts";
import { createIssue, key, type Row, rowsOf, runToEnd, service } from "./rows.ts";
import { WatchedJournal } from "./watched-journal.ts";

describe("a stream of items", () => {
  test.each<[string, (rows: Row[]) => Iterable<Row> | AsyncIterable<Row>]>([
    [
      "a generator",
      function* (rows) {
        yield* rows;
      },
    ],
    [
      "an async generator",
      async function* (rows) {
        yield* rows;
      },
    ],
    ["an iterator", (rows) => rows.values()],
    ["a stream of Node", (rows) => Readable.from(rows)],
  ])("%s is written whole", async (_, of) => {
    const { client } = service();
    const run = bulkWrite({ items: of(rowsOf(30)), key, send: createIssue(client), journal: memoryJournal() });
    expect((await run.finish()).done).toBe(30);
    expect(run.progress.total).toBeUndefined();
  });

  test("is taken from only as there is room", async () => {
    const { emulator, client } = service();
    const silence = emulator.fault({ times: Number.POSITIVE_INFINITY, delayMs: Number.POSITIVE_INFINITY });
    let taken = 0;
    let isClosed = false;
    function* stream(): Generator<Row> {
      try {
        for (const row of rowsOf(1_000)) {
          taken += 1;
          yield row;
        }
      } finally {
        isClosed = true;
      }
    }
    const stop = new AbortController();
    const run = bulkWrite({
      items: stream(),
      key,
      send: createIssue(client),
      journal: memoryJournal(),
      concurrency: 5,
      signal: stop.signal,
      graceMs: 0,
    });
    const ended = runToEnd(run);
    await expect.poll(() => silence.hits, { interval: 1 }).toBe(5);
    expect([taken, run.progress.underWay]).toEqual([5, 5]);
    stop.abort();
    expect(Object.values((await ended).states)).toEqual(Array(5).fill("unknown"));
    expect([taken, isClosed]).toEqual([5, true]);
  });

  test("that never brings its next item does not keep a run from stopping", async () => {
    const { client } = service();
    async function* stream(): AsyncGenerator<Row> {
      yield* rowsOf(2);
      await new Promise(() => {});
    }
    const stop = new AbortController();
    const run = bulkWrite({
      items: stream(),
      key,
      send: createIssue(client),
      journal: memoryJournal(),
      signal: stop.signal,
    });
    const ended = runToEnd(run);
    await expect.poll(() => run.summary.done, { interval: 1 }).toBe(2);
    stop.abort();
    expect((await ended).states).toEqual({ "row-1": "done", "row-2": "done" });
  });

  test("that fails ends the run with that cause, after the entries of what it brought", async () => {
    const { client } = service();
    async function* stream(): AsyncGenerator<Row> {
      yield* rowsOf(3);
      throw new Error("line 4 is no JSON");
    }
    const { states, error } = await runToEnd(
      bulkWrite({ items: stream(), key, send: createIssue(client), journal: memoryJournal() }),
    );
    expect(Object.keys(states)).toHaveLength(3);
    expect(error).toMatchObject({ kind: "argument", cause: { message: "line 4 is no JSON" } });
  });

  test("is as good when it cannot be begun", async () => {
    const { client } = service();
    const items = {
      [Symbol.iterator]: (): never => {
        throw new Error("closed");
      },
    };
    const journal = new WatchedJournal();
    const { error } = await runToEnd(bulkWrite({ items, key, send: createIssue(client), journal }));
    expect(error).toMatchObject({ kind: "argument", cause: { message: "closed" } });
    expect(journal.closed).toBe(1);
  });
});

describe("entries", () => {
  test("that are not taken keep more from being sent", async () => {
    const { emulator, client } = service();
    const run = bulkWrite({
      items: rowsOf(100),
      key,
      send: createIssue(client),
      journal: memoryJournal(),
      concurrency: 4,
    });
    const iterator = run[Symbol.asyncIterator]();
    await iterator.next();
    await expect.poll(() => run.progress.underWay, { interval: 1 }).toBe(0);
    await settleDown();
    const sent = emulator.requests.length;
    expect(sent).toBeLessThanOrEqual(9); // one was taken, four wait, four more were under way
    for (let taken = 0; taken < 8; taken += 1) await iterator.next();
    await expect.poll(() => emulator.requests.length, { interval: 1 }).toBeGreaterThan(sent);
    await iterator.return?.();
  });

  test("come once each, also to calls of next that do not wait for one another", async () => {
    const { client } = service();
    const run = bulkWrite({ items: rowsOf(7), key, send: createIssue(client), journal: memoryJournal() });
    const iterator = run[Symbol.asyncIterator]();
    const results = await Promise.all(Array.from({ length: 9 }, () => iterator.next()));
    const keys = results.flatMap((result) => (result.done === true ? [] : [result.value.key]));
    expect(keys.sort()).toEqual(rowsOf(7).map(key).sort());
  });
});

test("nothing happens until the run is iterated", async () => {
  const { emulator } = service();
  const fail = (): never => expect.fail("called");
  const run = bulkWrite({ items: rowsOf(2), key: fail, send: fail, journal: { load: fail, append: fail } });
  await settleDown();
  expect([run.progress.elapsedMs, run.stoppedBy, emulator.requests.length]).toEqual([0, undefined, 0]);
});

test("progress counts, and passes the present pause on", async () => {
  const { client } = service();
  const pause = new Date(Date.now() + 60_000);
  const run = bulkWrite({
    items: rowsOf(12),
    key,
    send: createIssue(client),
    journal: memoryJournal(),
    pausedUntil: () => pause,
  });
  for await (const _ of run) {
    const { done, total, underWay, ratePerSecond, pausedUntil } = run.progress;
    expect([total, pausedUntil]).toEqual([12, pause]);
    expect(done + underWay).toBeLessThanOrEqual(12);
    expect(ratePerSecond).toBeGreaterThan(0);
  }
  const { elapsedMs } = run.progress;
  expect(run.progress).toMatchObject({ done: 12, underWay: 0, elapsedMs });
});

test("records that are ready at the same moment share one append, and a request leaves only after its record", async () => {
  const { emulator, client } = service({ maxConcurrency: 20 });
  const journal = new WatchedJournal();
  const log: string[] = [];
  const append = journal.append.bind(journal);
  journal.append = async (records) => {
    await settleDown();
    await append(records);
    log.push(...records.map((record) => `${record.state} ${record.key}`));
  };
  const run = bulkWrite({ items: rowsOf(60), key, send: createIssue(client), journal, concurrency: 20 });
  for await (const entry of run) {
    const about = log.filter((line) => line.endsWith(` ${entry.key}`));
    expect(about).toEqual([`sending ${entry.key}`, `done ${entry.key}`]);
  }
  expect(emulator.requests).toHaveLength(60);
  expect(journal.records).toHaveLength(120);
  expect(journal.batches[0]).toHaveLength(20);
  expect(journal.batches.length).toBeLessThan(30);
});
