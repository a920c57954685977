/** What ends a run before its last item, and what is then known of each item. */
import { describe, expect, test } from "vitest";
import { type BulkCounts, bulkWrite, JournalError, memoryJournal } from "../../src/bulk/index.ts";
import { Client, type ClientEvent, type FetchFunction } from "../../src/client/index.ts";
import { settleDown } from "../support/fake-time.ts";
import { rejection } from "../support/promises.ts";
import { CLOSED_PORT } from "../support/raw-server.ts";
import { answering, countsOf, issueCounts, key, rowsOf, runToEnd, send, service } from "./rows.ts";
import { WatchedJournal } from "./watched-journal.ts";

const ALWAYS = Number.POSITIVE_INFINITY;
const silence = { times: ALWAYS, delayMs: ALWAYS };

const sum = ({ done, refused, not_sent, unknown }: BulkCounts): number => done + refused + not_sent + unknown;

describe("a stop while an item waits to be sent again", () => {
  const json = (status: number, body: unknown, headers = {}): Response => Response.json(body, { status, headers });

  test.each<[string, (...request: Parameters<FetchFunction>) => Promise<Response>]>([
    ["after a 401", async () => json(401, { error: "unauthorized" })],
    ["in a pause", async () => json(429, {}, { "retry-after": "60" })],
    ["for a connection", (url, init) => fetch(url, init)],
  ])("%s leaves it not_sent, with an error of its own", async (_, answer) => {
    let reach = (): void => {};
    const waiting = new Promise<void>((resolve) => {
      reach = resolve;
    });
    const stopped = (): Promise<unknown> => expect.poll(() => run.stoppedBy).toBeDefined();
    const client = new Client({
      baseUrl: `http://127.0.0.1:${CLOSED_PORT}/api/v1`,
      token: async ({ rejected }) => {
        if (rejected === undefined) return "pat_key_old";
        reach();
        await stopped();
        return "pat_key_new";
      },
      retry: { minDelayMs: 60_000, maxDelayMs: 60_000 },
      onEvent: ({ type }) => type === "retry" && reach(),
      fetch: answering(async (url, init) =>
        String(init.body).includes("first")
          ? json(201, { number: 1, title: "first", status: "open" })
          : answer(url, init),
      ),
    });
    const journal = memoryJournal();
    const run = bulkWrite({
      client,
      journal,
      items: ["first", "second"],
      key: (title) => title,
      send: async (bound, title) => {
        const issue = await bound.issues.create("web", { title, type: "bug" });
        await waiting;
        throw new TypeError(`own mistake after ${issue.title}`);
      },
    });
    const states: Record<string, string> = {};
    const failure = rejection(
      (async () => {
        for await (const { key, state } of run) states[key] = state;
      })(),
    );
    expect(await failure).toMatchObject({ outcome: "accepted", key: "first" });
    expect(states).toEqual({ first: "done", second: "not_sent" });
    const known: Record<string, string> = {};
    for await (const { key, state } of await journal.load()) known[key] = state;
    expect(known).toEqual(states);
  });
});

describe("a signal", () => {
  test("lets requests on their way end, sends nothing more, and tells of each item", async () => {
    const stop = new AbortController();
    let sent = 0;
    const onEvent = ({ type }: ClientEvent): void => {
      if (type === "request") sent += 1;
      if (sent === 5) stop.abort(new Error("enough"));
    };
    const { emulator, client } = service({ maxConcurrency: 3, onEvent });
    const journal = new WatchedJournal();
    const run = bulkWrite({
      items: rowsOf(20),
      key,
      journal,
      concurrency: 6,
      signal: stop.signal,
      client,
      send,
    });
    const counts = await countsOf(run);
    expect(run.stoppedBy).toMatchObject({ kind: "abort", cause: { message: "enough" } });
    const issues = Object.values(issueCounts(emulator));
    // The fifth was aborted just before it left.
    expect(counts).toMatchObject({ done: issues.length, not_sent: 20 - issues.length, unknown: 0 });
    expect(journal.closed).toBe(1);
  });

  test("waits for a silent service no longer than graceMs; what was on its way is unknown", async () => {
    const { emulator, client } = service({ maxConcurrency: 2 });
    const fault = emulator.fault(silence);
    const stop = new AbortController();
    const options = { items: rowsOf(9), key, client, send, journal: memoryJournal() };
    const run = bulkWrite({ ...options, graceMs: 0, signal: stop.signal });
    const ended = countsOf(run);
    await expect.poll(() => fault.hits).toBe(2);
    stop.abort();
    expect(await ended).toMatchObject({ unknown: 2, not_sent: 7 });
    fault.remove();
    expect(await countsOf(bulkWrite(options))).toMatchObject({ unknown: 2, done: 7 });
  });
});

describe("graceMs", () => {
  const never = new Promise<never>(() => {});
  const stopped = () => {
    const stop = new AbortController();
    return { stop, options: { key, graceMs: 0, signal: stop.signal } };
  };

  test.each<[string, boolean, string]>([
    ["before its write", false, "not_sent"],
    ["after its write was accepted", true, "done"],
  ])("ends a send that ignores its signal %s", async (_, writes, state) => {
    const { client } = service();
    const { stop, options } = stopped();
    const journal = memoryJournal();
    let waiting = 0;
    const run = bulkWrite({
      ...options,
      items: rowsOf(3),
      journal,
      client,
      send: async (bound, row) => {
        if (writes) await send(bound, row);
        waiting += 1;
        return never;
      },
    });
    const ended = runToEnd(run);
    await expect.poll(() => waiting).toBe(3);
    stop.abort();
    const { states, error } = await ended;
    expect([states["row-1"], error]).toEqual([state, undefined]);
    expect(sum(run.summary)).toBe(3);
    // What it came to has been recorded.
    const next = await runToEnd(bulkWrite({ items: rowsOf(3), key, journal, client, send }));
    expect(next.states).toEqual({ "row-1": "done", "row-2": "done", "row-3": "done" });
    expect(next.entries[0]?.skipped).toBe(writes);
  });

  test("ends a send whose call is on its way, and does not end", async () => {
    const { emulator, client } = service();
    const fault = emulator.fault(silence);
    const { stop, options } = stopped();
    const ended = runToEnd(
      bulkWrite({
        ...options,
        items: rowsOf(2),
        journal: memoryJournal(),
        client,
        send: (bound, row) => send(bound, row).catch(() => never),
      }),
    );
    await expect.poll(() => fault.hits).toBe(2);
    stop.abort();
    expect((await ended).states).toEqual({ "row-1": "unknown", "row-2": "unknown" });
  });
});

describe("a loop that is left", () => {
  test("sends nothing more, waits for what is on its way, and closes the journal", async () => {
    const { emulator, client } = service();
    const journal = new WatchedJournal();
    emulator.fault({ times: 8, delayMs: 20 });
    const options = { items: rowsOf(40), key, client, send, journal, concurrency: 4 };
    const run = bulkWrite(options);
    for await (const entry of run) if (entry.key === "row-5") break;
    const sent = emulator.requests.length;
    expect(sent).toBeLessThan(20);
    expect(journal.closed).toBe(1);
    expect(run.summary).toEqual({
      done: sent,
      skipped: 0,
      refused: 0,
      not_sent: 40 - sent,
      unknown: 0,
    });
    await settleDown();
    expect(emulator.requests).toHaveLength(sent);
    expect(await bulkWrite(options)).toMatchObject({ done: 40, skipped: sent });
    expect(Object.values(issueCounts(emulator))).toEqual(Array(40).fill(1));
  });
});

describe("a journal that fails", () => {
  test.each([[0], [1], [5], [6], [11]])("after %i records stops the run before the next request", async (space) => {
    const { emulator, client } = service();
    const journal = new WatchedJournal();
    journal.space = space;
    const options = { items: rowsOf(20), key, client, send, journal, concurrency: 1 };
    const run = bulkWrite(options);
    const { error } = await runToEnd(run);
    expect(error).toBeInstanceOf(JournalError);
    expect(error).toMatchObject({ kind: "journal", name: "JournalError", reason: "failed", cause: { code: "ENOSPC" } });
    expect(run.stoppedBy).toBe(error);
    const recorded = journal.records.filter(({ state }) => state === "sending").length;
    expect(emulator.requests).toHaveLength(recorded);
    // The counts are right also where the journal has failed.
    expect(run.summary).toMatchObject({ done: recorded, not_sent: 20 - recorded, unknown: 0 });
    expect(journal.closed).toBe(1);

    journal.space = ALWAYS;
    const lost = recorded - journal.records.filter(({ state }) => state === "done").length;
    expect(await countsOf(bulkWrite(options))).toMatchObject({ done: 20 - lost, unknown: lost });
    expect(Object.values(issueCounts(emulator))).toEqual(Array(20).fill(1));
  });

  test("while many are under way: no request leaves without its record", async () => {
    const { emulator, client } = service();
    const journal = new WatchedJournal();
    journal.space = 17;
    const run = bulkWrite({ items: rowsOf(60), key, client, send, journal, concurrency: 8 });
    const { error } = await runToEnd(run);
    expect(error).toBeInstanceOf(JournalError);
    const recorded = journal.records.filter(({ state }) => state === "sending");
    expect(emulator.requests.length).toBe(recorded.length);
    expect(sum(run.summary)).toBe(60);
  });

  test("with a record that is none ends the run, and names it", async () => {
    const { client } = service();
    const at = new Date(0).toISOString();
    const records = [
      { key: "row-1", state: "done", at },
      { key: "row-2", state: "sent", at },
    ] as never;
    const run = bulkWrite({
      items: rowsOf(3),
      key,
      client,
      send,
      journal: { load: () => records, append: () => undefined },
    });
    expect((await runToEnd(run)).error).toMatchObject({
      reason: "damaged",
      message: expect.stringMatching(/^record 2 of the journal must have one of the states/),
    });
  });
});
