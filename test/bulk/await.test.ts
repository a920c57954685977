/** A run is awaited or iterated, once, and begins with that. */
import { describe, expect, test } from "vitest";
import { bulkWrite, memoryJournal } from "../../src/bulk/index.ts";
import { settleDown } from "../support/fake-time.ts";
import { rejection } from "../support/promises.ts";
import { key, rowsOf, runToEnd, send, service } from "./rows.ts";
import { WatchedJournal } from "./watched-journal.ts";

const setUp = () => {
  const { emulator, client } = service();
  return { emulator, options: { client, items: rowsOf(6), key, send, journal: new WatchedJournal() } };
};
const ONCE = /a run can be iterated only once, and not after it was awaited/;

describe("a run that is awaited", () => {
  test("begins with that, and resolves with its summary", async () => {
    const { emulator, options } = setUp();
    const run = bulkWrite(options);
    await settleDown();
    expect(emulator.requests).toEqual([]);
    expect(await run).toEqual({ done: 6, refused: 0, not_sent: 0, unknown: 0, skipped: 0 });
    expect(options.journal.closed).toBe(1);
  });

  test("again, or several times at once, is run once", async () => {
    const { emulator, options } = setUp();
    const run = bulkWrite(options);
    const [first, second] = await Promise.all([run, run.finish()]);
    expect([first, second, await run]).toEqual(Array(3).fill(run.summary));
    expect(emulator.requests).toHaveLength(6);
  });

  test("cannot be iterated afterwards, or meanwhile", async () => {
    const { options } = setUp();
    const run = bulkWrite(options);
    const ended = run.finish();
    expect(String((await runToEnd(run)).error)).toMatch(ONCE);
    await ended;
    expect(String((await runToEnd(run)).error)).toMatch(ONCE);
  });

  test.each<[string, object, string]>([
    ["a refused token", { status: 401 }, "auth"],
    ["an outage", { status: 503 }, "server"],
  ])("rejects with the error that stopped it: %s", async (_, fault, kind) => {
    const { emulator, options } = setUp();
    emulator.fault({ times: Number.POSITIVE_INFINITY, ...fault });
    const run = bulkWrite({ ...options, concurrency: 1, stopAfter: 2 });
    const error = await rejection(run.finish());
    expect(error).toMatchObject({ kind });
    expect(run.stoppedBy).toBe(error);
    await expect(run).rejects.toBe(error);
    expect(options.journal.closed).toBe(1);
  });

  test("rejects when its signal has stopped it", async () => {
    const { options } = setUp();
    const stopped = bulkWrite({ ...options, signal: AbortSignal.abort() });
    await expect(stopped).rejects.toMatchObject({ kind: "abort" });
  });

  test("rejects for invalid options, and for a journal that fails", async () => {
    const { options } = setUp();
    await expect(bulkWrite({ ...options, key: 7 as never })).rejects.toMatchObject({ kind: "argument" });
    options.journal.space = 2;
    await expect(bulkWrite(options)).rejects.toMatchObject({ kind: "journal", reason: "failed" });
  });
});

describe("a run that is iterated", () => {
  test("gives its end to those who await it afterwards, and sends nothing more", async () => {
    const { emulator, options } = setUp();
    const run = bulkWrite(options);
    expect(Object.keys((await runToEnd(run)).states)).toHaveLength(6);
    expect(await run).toEqual(run.summary);
    expect(String((await runToEnd(run)).error)).toMatch(ONCE);
    expect(emulator.requests).toHaveLength(6);
  });

  test("and was stopped, rejects for those who await it afterwards", async () => {
    const { options } = setUp();
    const run = bulkWrite(options);
    for await (const _ of run) break;
    await expect(run).rejects.toMatchObject({ kind: "abort" });
  });

  test("cannot be awaited in its loop, which would never end", async () => {
    const { options } = setUp();
    const run = bulkWrite({ ...options, concurrency: 1 });
    for await (const entry of run) {
      if (entry.key !== "row-1") continue;
      await expect(run.finish()).rejects.toMatchObject({
        kind: "argument",
        message: "a run that is being iterated cannot be awaited before its end",
      });
    }
    expect(await run).toMatchObject({ done: 6 });
  });
});

test("a run that nobody awaits or iterates does nothing", async () => {
  const { emulator, options } = setUp();
  const run = bulkWrite({ ...options, journal: memoryJournal() });
  await settleDown();
  expect([emulator.requests.length, run.summary.done, run.progress.elapsedMs]).toEqual([0, 0, 0]);
});
