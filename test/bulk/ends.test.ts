/** A run resolves only if every item is done, awaited or iterated; otherwise it says what is left. */
import { describe, expect, test, vi } from "vitest";
import { type BulkError, type BulkOptions, bulkWrite, memoryJournal } from "../../src/bulk/index.ts";
import type { Issue } from "../../src/client/index.ts";
import { settleDown } from "../support/fake-time.ts";
import { rejection } from "../support/promises.ts";
import { issueCounts, key, type Row, rowsOf, runToEnd, send, service, titled } from "./rows.ts";
import { WatchedJournal } from "./watched-journal.ts";

const ALWAYS = Number.POSITIVE_INFINITY;
const setUp = () => {
  const { emulator, client } = service();
  return { emulator, options: { client, items: rowsOf(6), key, send, journal: new WatchedJournal() } };
};
const ONCE = /a run can be iterated only once, and not after it was awaited/;
const counts = { done: 0, skipped: 0, refused: 0, not_sent: 0, unknown: 0 };

/** The error of a run with items that are left: an awaited one and one in a loop reject with the same. */
async function leftBy(options: BulkOptions<Row, Issue>): Promise<BulkError> {
  const run = bulkWrite(options);
  const { left } = await runToEnd(run);
  expect(left).toMatchObject({ kind: "bulk", summary: run.summary, stoppedBy: run.stoppedBy });
  expect(await rejection(run)).toBe(left);
  return left as BulkError; // it has just been looked at
}

describe("a run of which every item is done", () => {
  test("begins when it is awaited, and resolves with two counts", async () => {
    const { emulator, options } = setUp();
    const run = bulkWrite(options);
    await settleDown();
    expect([emulator.requests.length, run.progress.elapsedMs]).toEqual([0, 0]);
    expect(await run).toEqual({ done: 6, skipped: 0 });
    expect(options.journal.closed).toBe(1);
  });

  test("by earlier runs says so, and when the last one was", async () => {
    const { emulator, options } = setUp();
    const info = vi.fn();
    const logger = { debug: () => {}, info, warn: () => {}, error: () => {} };
    const client = options.client.withOptions({ logger, logLevel: "info" });
    await bulkWrite({ ...options, client, items: rowsOf(3) });
    await bulkWrite({ ...options, client });
    const lines = () => info.mock.calls.map(([line]) => String(line)).filter((line) => line.startsWith("bulkWrite"));
    expect(lines()).toEqual([]);
    const last = options.journal.records.at(-1)?.at;
    expect(await bulkWrite({ ...options, client })).toEqual({ done: 6, skipped: 6 });
    expect(lines()).toEqual([
      `bulkWrite: nothing was sent: all 6 items were done by earlier runs, the last on ${last}`,
    ]);
    expect(emulator.requests).toHaveLength(6);
  });
});

describe("a run that leaves items", () => {
  test.each<[string, object, object, RegExp]>([
    [
      "all were refused",
      { status: 422, body: { error: "invalid", message: "title is too long" } },
      { refused: 6 },
      /^6 of 6 items are left: 6 refused\. ("row-\d" refused: title is too long(; |\. )){3}To finish: correct what was refused, run it again$/,
    ],
    [
      "all responses were lost",
      { drop: "after" },
      { unknown: 6 },
      /^6 of 6 items are left: 6 unknown\. .*To finish: let resolveUnknown decide what is unknown, run it again$/,
    ],
    ["a page in the place of the service", { status: 404, body: "<html>" }, { unknown: 6 }, /6 unknown\. /],
  ])("rejects with a BulkError, and is stopped by nothing: %s", async (...[, fault, left, message]) => {
    const { emulator, options } = setUp();
    emulator.fault({ times: ALWAYS, ...fault });
    const error = await leftBy({ ...options, stopAfter: false });
    expect(error).toMatchObject({ name: "BulkError", summary: { ...counts, ...left }, stoppedBy: undefined });
    expect(error.message).toMatch(message);
    expect(error.stack).toContain("ends.test.ts");
  });

  test("names one that was refused, and the next run sends it as it was corrected", async () => {
    const { emulator, options } = setUp();
    const refusal = { status: 422, body: { error: "invalid", message: "no such type" } };
    emulator.fault({ ...titled("Issue 4"), times: ALWAYS, ...refusal });
    const error = await leftBy(options);
    expect(error.message).toBe(
      '1 of 6 items is left: 1 refused. "row-4" refused: no such type. To finish: correct what was refused, run it again',
    );
    const items = options.items.map((row) => (row.id === "row-4" ? { ...row, title: "Corrected" } : row));
    expect(await bulkWrite({ ...options, items })).toEqual({ done: 6, skipped: 5 });
    expect(issueCounts(emulator)).toMatchObject({ Corrected: 1 });
  });

  test.each<[string, object, string]>([
    ["a refused token", { status: 401 }, "auth"],
    ["an outage", { status: 503 }, "server"],
  ])("says what stopped it, and counts those that it did not begin: %s", async (_, fault, kind) => {
    const { emulator, options } = setUp();
    emulator.fault({ times: ALWAYS, skip: 1, ...fault });
    const error = await leftBy({ ...options, concurrency: 1, stopAfter: 1 });
    expect(error).toMatchObject({ stoppedBy: { kind }, cause: { kind } });
    expect(error.message).toMatch(/\. Stopped(:| after 1 failure; the last one:) issues\.create: /);
    const { done, not_sent, unknown } = error.summary;
    expect([done, not_sent + unknown]).toEqual([1, 5]);
    expect(options.journal.closed).toBe(1);
  });

  test("has an entry for each item that it began, and none for the others", async () => {
    const { options } = setUp();
    const stop = new AbortController();
    const run = bulkWrite({ ...options, items: rowsOf(500), concurrency: 4, signal: stop.signal });
    const keys: string[] = [];
    const error = await rejection(
      (async () => {
        for await (const entry of run) {
          keys.push(entry.key);
          stop.abort();
        }
      })(),
    );
    expect(keys.length).toBeLessThan(10);
    expect(error).toMatchObject({ kind: "bulk", stoppedBy: { kind: "abort" } });
    const { done, not_sent, unknown } = run.summary;
    expect(done + not_sent + unknown).toBe(500);
  });

  test("and cannot work, rejects with that", async () => {
    const { options } = setUp();
    options.journal.space = 2;
    const run = bulkWrite(options);
    const { error } = await runToEnd(run);
    expect(error).toMatchObject({ kind: "journal", reason: "failed" });
    expect(await rejection(run)).toBe(error);
  });

  test("of a stream says that the rest is left, also where each item that came is done", async () => {
    const { options } = setUp();
    const stop = new AbortController();
    async function* rows() {
      yield* rowsOf(2);
      stop.abort();
      yield* rowsOf(6).slice(2);
    }
    const error = await leftBy({ ...options, items: rows(), signal: stop.signal });
    expect(error.message).toMatch(/and the rest of the stream|^the rest of the items is left/);
    expect(error.stoppedBy).toMatchObject({ kind: "abort" });
  });
});

describe("a run that is iterated", () => {
  test.each(["awaited", "iterated"])("once, and not after it was %s", async (how) => {
    const run = bulkWrite(setUp().options);
    const ended = how === "awaited" ? run.then(() => {}) : runToEnd(run);
    expect(String((await runToEnd(run)).error)).toMatch(ONCE);
    await ended;
    expect(String((await runToEnd(run)).error)).toMatch(ONCE);
  });

  test("and left early throws nothing, but for those who await it afterwards", async () => {
    const { options } = setUp();
    const run = bulkWrite({ ...options, concurrency: 1 });
    for await (const _ of run) break;
    expect(await rejection(run)).toMatchObject({ kind: "bulk", stoppedBy: { kind: "abort" } });
  });

  test("cannot be awaited in its loop, which would never end", async () => {
    const { options } = setUp();
    const run = bulkWrite({ ...options, concurrency: 1 });
    for await (const entry of run) {
      if (entry.key !== "row-1") continue;
      expect(await rejection(run)).toMatchObject({
        kind: "argument",
        message: "a run that is being iterated cannot be awaited before its end",
      });
    }
    expect(await run).toMatchObject({ done: 6 });
  });
});

test.each(["while its journal closes", "after its end"])("break leaves no timer behind: %s", async (when) => {
  const graceMs = 4_321; // no other timer has it
  const left = new Set<unknown>();
  const { setTimeout: start, clearTimeout: stop } = globalThis;
  vi.stubGlobal("setTimeout", (action: () => void, ms: number) => {
    const timer = start(action, ms);
    if (ms === graceMs) left.add(timer);
    return timer;
  });
  vi.stubGlobal("clearTimeout", (timer: NodeJS.Timeout) => {
    left.delete(timer);
    stop(timer);
  });
  try {
    const { options } = setUp();
    let closed = (): void => {};
    const journal = Object.assign(memoryJournal(), {
      close: () =>
        new Promise<void>((resolve) => {
          closed = resolve;
        }),
    });
    const run = bulkWrite({ ...options, items: rowsOf(1), journal, graceMs });
    const iterator = run[Symbol.asyncIterator]();
    await iterator.next();
    await settleDown();
    if (when === "after its end") closed();
    await settleDown();
    const returned = iterator.return?.();
    closed();
    await returned;
    expect([left.size, await run]).toEqual([0, { done: 1, skipped: 0 }]);
  } finally {
    vi.unstubAllGlobals();
  }
});
