import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { bulkWrite, type Journal, JournalError, memoryJournal } from "../../src/bulk/index.ts";
import { memoryRateLimiter } from "../../src/client/index.ts";
import { platformTurn } from "../../src/core/time/clock.ts";
import { settleDown } from "../support/fake-time.ts";
import { drain } from "../support/promises.ts";
import { key, type Row, rowsOf, runToEnd, send, service } from "./rows.ts";
import { WatchedJournal } from "./watched-journal.ts";

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await platformTurn();
}

describe("a stream of items", () => {
  test.each<[string, (rows: Row[]) => Iterable<Row> | AsyncIterable<Row>]>([
    ["an iterator", (rows) => rows.values()],
    [
      "an iterator of one's own whose `done` is not a boolean",
      (rows) => {
        const next = async () => ({ done: rows.length === 0 ? 1 : 0, value: rows.shift() }) as never; // as loops take it
        return { [Symbol.asyncIterator]: () => ({ next }) };
      },
    ],
  ])("%s is written whole", async (_, of) => {
    const { client } = service();
    const run = bulkWrite({ items: of(rowsOf(30)), key, client, send, journal: memoryJournal() });
    expect((await run).done).toBe(30);
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
      client,
      send,
      journal: memoryJournal(),
      concurrency: 5,
      signal: stop.signal,
      graceMs: 0,
    });
    const ended = runToEnd(run);
    await expect.poll(() => silence.hits).toBe(5);
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
      client,
      send,
      journal: memoryJournal(),
      signal: stop.signal,
      graceMs: 50,
    });
    const ended = runToEnd(run);
    await expect.poll(() => run.summary.done).toBe(2);
    stop.abort();
    expect((await ended).states).toEqual({ "row-1": "done", "row-2": "done" });
  });

  describe("that has been asked for its next item when the run is stopped", () => {
    /** Stops the run once its first two items are done, while `next` is waited for: what it leaves. */
    async function stopWith(of: (first: Row[]) => AsyncIterable<Row>, next: (stop: () => void) => void) {
      const { client } = service();
      const stop = new AbortController();
      const items = of(rowsOf(2));
      const options = { key, client, send, journal: memoryJournal(), signal: stop.signal };
      const run = bulkWrite({ ...options, items, graceMs: 3_600_000 });
      const ended = runToEnd(run);
      await expect.poll(() => run.summary.done).toBe(2);
      next(() => stop.abort());
      return (await ended).left?.summary;
    }

    test("is waited for, and the item is not_sent", async () => {
      let bring: (row: Row) => void = () => {};
      const later = new Promise<Row>((resolve) => {
        bring = resolve;
      });
      async function* stream(first: Row[]): AsyncGenerator<Row> {
        yield* first;
        yield await later;
      }
      const left = await stopWith(stream, (stop) => {
        stop();
        void turns(50).then(() => bring({ id: "late", title: "Late" }));
      });
      expect(left).toMatchObject({ done: 2, not_sent: 1 });
    });
  });
});

describe("the iterator of a source", () => {
  test.each<[string, () => AsyncIterable<Row>]>([
    ["a generator", () => rowsAsTheyCome()],
    ["a stream of Node", () => Readable.from(rowsOf(3))],
  ])("is ended if the run cannot begin: %s", async (_, make) => {
    const { client } = service();
    const journal: Journal = {
      load: () => {
        throw new JournalError("another process has it", { reason: "in_use" });
      },
      append: () => {},
    };
    const items = make();
    const { error } = await runToEnd(bulkWrite({ items, key, client, send, journal }));
    expect(error).toMatchObject({ kind: "journal", reason: "in_use" });
    expect((await drain(items)).items).toEqual([]);
  });
});

/** A stream of the platform, which Node iterates. */
function streamOf(rows: readonly Row[]): ReadableStream<Row> & AsyncIterable<Row> {
  const stream = new ReadableStream<Row>({
    start(controller) {
      for (const row of rows) controller.enqueue(row);
      controller.close();
    },
  });
  return stream as ReadableStream<Row> & AsyncIterable<Row>; // the types of the platform leave it out
}

async function* rowsAsTheyCome(): AsyncGenerator<Row> {
  yield* rowsOf(3);
}

describe("a source that comes once", () => {
  test.each<[string, () => AsyncIterable<Row> | Iterable<Row>]>([
    ["a generator", () => rowsOf(3)[Symbol.iterator]()],
    ["an async generator", rowsAsTheyCome],
    ["a stream of Node", () => Readable.from(rowsOf(3))],
    ["a stream of the platform", () => streamOf(rowsOf(3))],
  ])("belongs to one run: %s", async (_, make) => {
    const { emulator, client } = service();
    const items = make();
    expect(await bulkWrite({ items, key, client, send, journal: memoryJournal() })).toMatchObject({ done: 3 });
    const again = () => bulkWrite({ items, key, client, send, journal: memoryJournal() });
    expect(again).toThrow(/make it anew for each run/);
    expect(emulator.issues.list("web")).toHaveLength(3);
  });
});

describe("entries", () => {
  test("that are not taken keep more from being sent", async () => {
    const { emulator, client } = service();
    const run = bulkWrite({
      items: rowsOf(100),
      key,
      client,
      send,
      journal: memoryJournal(),
      concurrency: 4,
    });
    const iterator = run[Symbol.asyncIterator]();
    await iterator.next();
    await expect.poll(() => run.progress.underWay).toBe(0);
    await settleDown();
    const sent = emulator.requests.length;
    expect(sent).toBeLessThanOrEqual(9); // one was taken, four wait, four more were under way
    for (let taken = 0; taken < 8; taken += 1) await iterator.next();
    await expect.poll(() => emulator.requests.length).toBeGreaterThan(sent);
    await iterator.return?.();
  });

  test("come once each, also to calls of next that do not wait for one another", async () => {
    const { client } = service();
    const run = bulkWrite({ items: rowsOf(7), key, client, send, journal: memoryJournal() });
    const iterator = run[Symbol.asyncIterator]();
    const results = await Promise.all(Array.from({ length: 9 }, () => iterator.next()));
    const keys = results.flatMap((result) => (result.done === true ? [] : [result.value.key]));
    expect(keys.sort()).toEqual(rowsOf(7).map(key).sort());
  });
});

describe("items that are done already", () => {
  const ITEMS = 100_000;
  const own = service().client;
  const names = Array.from({ length: ITEMS }, (_, index) => `row-${index}`);
  const at = new Date(0).toISOString();
  const options = {
    client: own,
    key: (name: string) => name,
    send: async (): Promise<never> => expect.fail("sent"),
    journal: {
      load: () => names.map((name) => ({ key: name, state: "done" as const, at, service: own.baseUrl })),
      append: () => expect.fail("recorded"),
    },
  };

  test("leave the platform its turns, in which the run can be stopped", async () => {
    const stop = new AbortController();
    let taken = 0;
    function* stream(): Generator<string> {
      for (const name of names) {
        taken += 1;
        if (taken === 1) setImmediate(() => stop.abort());
        yield name;
      }
    }
    const run = bulkWrite({ ...options, items: stream(), signal: stop.signal });
    await expect(run).rejects.toMatchObject({ kind: "bulk", stoppedBy: { kind: "abort" } });
    expect(run.summary.skipped).toBe(taken);
    expect(taken).toBeLessThan(ITEMS);
  });
});

test("progress counts, and passes the present pause on", async () => {
  const pause = new Date(Date.now() + 60_000);
  const snapshot = { observedAt: new Date(), pausedUntil: pause };
  const { client } = service({ rateLimiter: Object.assign(memoryRateLimiter(), { snapshot: () => snapshot }) });
  const run = bulkWrite({
    items: rowsOf(12),
    key,
    client,
    send,
    journal: memoryJournal(),
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
  const run = bulkWrite({ items: rowsOf(60), key, client, send, journal, concurrency: 20 });
  for await (const entry of run) {
    const about = log.filter((line) => line.endsWith(` ${entry.key}`));
    expect(about).toEqual([`sending ${entry.key}`, `done ${entry.key}`]);
  }
  expect(emulator.requests).toHaveLength(60);
  expect(journal.records).toHaveLength(120);
  expect(journal.batches[0]).toHaveLength(20);
  expect(journal.batches.length).toBeLessThan(30);
});
