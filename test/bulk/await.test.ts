/** A run is awaited or iterated, once, and begins with that. */
import { describe, expect, test } from "vitest";
import { bulkWrite, memoryJournal } from "../../src/bulk/index.ts";
import { settleDown } from "../support/fake-time.ts";
import { rejection } from "../support/promises.ts";
import { key, type Row, rowsOf, runToEnd, send, service, titled } from "./rows.ts";
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
    expect(await run).toEqual({ done: 6, refused: 0, not_sent: 0, unknown: 0, skipped: 0, otherTokens: 0 });
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

describe("a run that gets nothing through while something is left", () => {
  const ALWAYS = Number.POSITIVE_INFINITY;

  test.each<[string, object, object]>([
    ["a request that was lost", { drop: "after" }, { unknown: 6 }],
    ["a wrong address", { status: 404 }, { not_sent: 6 }],
    ["a page in the place of the service", { status: 200, body: "<html>" }, { unknown: 6 }],
  ])("rejects with the error of the first item that it began: %s", async (_, fault, left) => {
    const { emulator, options } = setUp();
    emulator.fault({ times: ALWAYS, ...fault });
    // The first item is the last one to end.
    const slowly = async (...[client, row]: Parameters<typeof send>) => {
      if (row.id === "row-1") await settleDown();
      return await send(client, row);
    };
    const run = bulkWrite({ ...options, send: slowly, stopAfter: false });
    const { entries } = await runToEnd(run);
    const first = entries.find((entry) => entry.key === "row-1")?.error;
    expect(await rejection(run.finish())).toBe(first);
    expect(first).toBeDefined();
    expect(run.stoppedBy).toBeUndefined();
    expect(run.summary).toMatchObject({ done: 0, refused: 0, ...left });
  });

  test("where an earlier run has done something: that is not got through", async () => {
    const { emulator, options } = setUp();
    await bulkWrite({ ...options, items: rowsOf(3) });
    emulator.fault({ times: ALWAYS, status: 404 });
    const run = bulkWrite({ ...options, stopAfter: false });
    expect(await rejection(run.finish())).toMatchObject({ kind: "not_found", status: 404 });
    expect(run.stoppedBy).toBeUndefined();
    expect(run.summary).toMatchObject({ done: 3, skipped: 3, not_sent: 3 });
  });

  test("rejects with a JournalError where it began none, since all that is left is unknown", async () => {
    const { emulator, options } = setUp();
    const lost = emulator.fault({ times: ALWAYS, drop: "after" });
    await runToEnd(bulkWrite({ ...options, items: rowsOf(2), stopAfter: false }));
    lost.remove();
    await runToEnd(bulkWrite(options));
    const sent = emulator.requests.length;
    const run = bulkWrite(options);
    const error = await rejection(run.finish());
    expect(error).toMatchObject({ kind: "journal", reason: "undecided" });
    expect(String(error)).toContain("(4 done, 0 refused, 2 unknown)");
    expect(String(error)).toContain("resolveUnknown");
    expect([run.stoppedBy, emulator.requests.length]).toEqual([undefined, sent]);
  });

  test("tells why resolveUnknown did not decide", async () => {
    const { emulator, options } = setUp();
    const lost = emulator.fault({ times: ALWAYS, drop: "after" });
    await runToEnd(bulkWrite({ ...options, stopAfter: false }));
    lost.remove();
    const resolveUnknown = (): Promise<never> => Promise.reject(new Error("search is down"));
    expect(await rejection(bulkWrite({ ...options, resolveUnknown }).finish())).toMatchObject({
      reason: "undecided",
      cause: { message: expect.stringContaining("search is down") },
    });
  });

  test.each(["applied", "not_applied"] as const)("resolves where resolveUnknown says %s of one", async (resolution) => {
    const { emulator, options } = setUp();
    const lost = emulator.fault({ times: ALWAYS, drop: "before" });
    await runToEnd(bulkWrite({ ...options, stopAfter: false }));
    lost.remove();
    const resolveUnknown = async ({ id }: { readonly id: string }) => (id === "row-2" ? resolution : "undecided");
    expect(await bulkWrite({ ...options, resolveUnknown })).toMatchObject({ done: 1, unknown: 5 });
  });

  test.each<[string, { readonly status?: number }, object]>([
    ["one item is done", {}, { done: 1, unknown: 5 }],
    ["one item is refused", { status: 422 }, { refused: 1, unknown: 5 }],
  ])("resolves if %s", async (_, fault, counts) => {
    const { emulator, options } = setUp();
    if (fault.status !== undefined) emulator.fault({ ...titled("Issue 4"), ...fault });
    emulator.fault({ match: ({ body }) => !String((body as Row).title).endsWith("4"), times: ALWAYS, drop: "before" });
    expect(await bulkWrite({ ...options, stopAfter: false })).toMatchObject(counts);
  });

  test("resolves if nothing is left", async () => {
    const { emulator, options } = setUp();
    expect(await bulkWrite({ ...options, items: [] })).toMatchObject({ done: 0 });
    await bulkWrite(options);
    expect(await bulkWrite(options)).toMatchObject({ done: 6, skipped: 6 });
    expect(emulator.requests).toHaveLength(6);
  });

  test("does not reject its iteration", async () => {
    const { emulator, options } = setUp();
    emulator.fault({ times: ALWAYS, status: 404 });
    const run = bulkWrite({ ...options, stopAfter: false });
    expect((await runToEnd(run)).error).toBeUndefined();
    await expect(run).rejects.toMatchObject({ kind: "not_found" });
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
