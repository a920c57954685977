/** The read by which a run finds out whether the service answers, before a write of it could be lost. */
import { describe, expect, test } from "vitest";
import { isAnswer } from "../../src/bulk/failure-count.ts";
import { type BulkRun, bulkWrite, memoryJournal } from "../../src/bulk/index.ts";
import {
  AbortError,
  type AutomationError,
  type Client,
  type ClientOptions,
  ConnectionError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ResponseParseError,
  ServerError,
  TimeoutError,
  TokenProviderError,
} from "../../src/client/index.ts";
import type { Emulator, Fault } from "../../src/testing/index.ts";
import { fakeTime, pass, settleDown } from "../support/fake-time.ts";
import {
  clientOf,
  countsOf,
  issueCounts,
  key,
  type Row,
  rowsOf,
  runToEnd,
  send,
  service as serviceOfItems,
  titled,
} from "./rows.ts";
import { WatchedJournal } from "./watched-journal.ts";

const ALWAYS = Number.POSITIVE_INFINITY;
const READ = "projects.list";
const WRITE = "issues.create";

/** The service in this process, which sees the reads of a run as well. */
function service(options: ClientOptions = {}): { readonly emulator: Emulator; readonly client: Client } {
  const { emulator } = serviceOfItems();
  return { emulator, client: clientOf(emulator, { fetch: emulator.fetch, ...options }) };
}

const operationsOf = ({ requests }: Emulator): (string | undefined)[] => requests.map(({ operation }) => operation);
const readsOf = (emulator: Emulator): number => operationsOf(emulator).filter((name) => name === READ).length;

describe("a run reads", () => {
  test("once before its first writes, which wait for it, with the token of the client", async () => {
    const { emulator } = service();
    let isAsked = false;
    let answer = (): void => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const client = clientOf(emulator, {
      fetch: async (url, init) => {
        const response = await emulator.fetch(url, init);
        if (init.method !== "GET") return response;
        isAsked = true;
        await answered;
        return response;
      },
    });
    const journal = new WatchedJournal();
    const run = bulkWrite({ client, items: rowsOf(30), key, send, journal });
    const finished = countsOf(run);
    await expect.poll(() => isAsked).toBe(true);
    await settleDown();
    expect([operationsOf(emulator), journal.records, run.progress.underWay]).toEqual([[READ], [], 10]);
    answer();
    expect(await finished).toMatchObject({ done: 30 });
    expect(operationsOf(emulator)).toEqual([READ, ...Array(30).fill(WRITE)]);
    expect(emulator.requests[0]).toMatchObject({ method: "GET", query: { limit: "1" } });
  });

  test("nothing where no item is left to write", async () => {
    const { emulator, client } = service();
    emulator.fault({ ...titled("Issue 3"), drop: "after" });
    const options = { client, items: rowsOf(3), key, send, journal: memoryJournal() };
    expect(await countsOf(bulkWrite(options))).toMatchObject({ done: 2, unknown: 1 });
    const before = emulator.requests.length;
    await runToEnd(bulkWrite(options));
    await runToEnd(bulkWrite({ ...options, items: rowsOf(2).values() }));
    expect(emulator.requests.length).toBe(before);
  });

  test("again before the write after one that is unknown, and not after another failure", async () => {
    const { emulator, client } = service();
    emulator.fault({ ...titled("Issue 1"), status: 503 });
    emulator.fault({ ...titled("Issue 2"), status: 404 });
    emulator.fault({ ...titled("Issue 3"), status: 422 });
    emulator.fault({ ...titled("Issue 4"), drop: "after" });
    const run = bulkWrite({ client, items: rowsOf(6), key, send, journal: memoryJournal(), concurrency: 1 });
    expect(await countsOf(run)).toMatchObject({ done: 2, refused: 1, not_sent: 1, unknown: 2 });
    expect(operationsOf(emulator)).toEqual([READ, WRITE, READ, WRITE, WRITE, WRITE, READ, WRITE, WRITE]);
  });

  test("only when no write is under way", async () => {
    const { emulator, client } = service();
    emulator.fault({ ...titled("Issue 1"), drop: "after" });
    emulator.fault({ ...titled("Issue 2"), delayMs: 50 });
    emulator.fault({ ...titled("Issue 3"), delayMs: 50, drop: "after" });
    const run = bulkWrite({ client, items: rowsOf(20), key, send, journal: memoryJournal(), concurrency: 4 });
    expect(await countsOf(run)).toMatchObject({ done: 18, unknown: 2 });
    const reads = emulator.requests.filter(({ operation }) => operation === READ);
    expect(reads.map(({ inFlight }) => inFlight)).toEqual([0, 0]);
  });
});

const api = (status: number): { status: number } => ({ status });

test.each<[string, AutomationError, boolean]>([
  ["403", new PermissionDeniedError("", api(403)), true],
  ["404", new NotFoundError("", api(404)), true],
  ["429", new RateLimitError("", api(429)), true],
  ["a page with 200", new ResponseParseError("", api(200)), true],
  ["a page with 502", new ResponseParseError("", api(502)), false],
  ["500", new ServerError("", api(500)), false],
  ["501", new ServerError("", api(501)), false],
  ["no connection", new ConnectionError(""), false],
  ["a body that broke off", new ConnectionError("", api(200)), false],
  ["nothing in time", new TimeoutError("", { phase: "headers" }), false],
  ["a token provider that fails", new TokenProviderError(""), true],
  ["an abort", new AbortError(""), true],
])("a read that ends with %s", (...[, error, isOne]) => {
  expect(isAnswer(error)).toBe(isOne);
});

describe("an answer", () => {
  test.each<[string, Fault]>([
    ["something else than a list", { status: 200, body: [] }],
    ["403 of a proxy", { status: 403, body: "<html>" }],
    ["a redirect", { status: 302, headers: { location: "/elsewhere" } }],
  ])("with %s lets the writes go on", async (_, fault) => {
    const { emulator, client } = service();
    emulator.fault({ operation: READ, times: ALWAYS, ...fault });
    expect(await bulkWrite({ client, items: rowsOf(12), key, send, journal: memoryJournal() })).toMatchObject({
      done: 12,
    });
    expect(readsOf(emulator)).toBe(1);
  });

  test("that is a 401 is the write's to judge", async () => {
    const { emulator, client } = service();
    emulator.fault({ times: ALWAYS, status: 401, body: { error: "unauthorized" } });
    const run = bulkWrite({ client, items: rowsOf(5), key, send, journal: memoryJournal(), concurrency: 1 });
    await runToEnd(run);
    expect(run.stoppedBy).toMatchObject({ kind: "auth", method: "POST" });
    expect(operationsOf(emulator)).toEqual([READ, WRITE]);
  });
});

const DOWN: readonly (readonly [string, Fault])[] = [
  ["503", { status: 503 }],
  ["a page with 502", { status: 502, body: "<html>" }],
  ["a lost connection", { drop: "before" }],
  ["nothing", { delayMs: ALWAYS }],
];

/** Lets time pass until a run has ended. A run has turns of the platform between its timers. */
async function inTime<Result>(run: Promise<Result>): Promise<Result> {
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  run.then(end, end);
  for (let steps = 0; steps < 10_000 && !isOver; steps += 1) await pass(100);
  return await run;
}

describe("a service that answers with 503, a page, a lost connection or nothing", () => {
  fakeTime();

  test.each(DOWN)("from the start leaves no item unknown, and none is begun: %s", async (_, fault) => {
    const { emulator, client } = service({ timeoutMs: 200 });
    const down = emulator.fault({ times: ALWAYS, ...fault });
    const journal = new WatchedJournal();
    const options = { client, items: rowsOf(100), key, send, journal, stopAfter: 3 };
    const run = bulkWrite(options);
    const { entries, left } = await inTime(runToEnd(run));
    expect(run.summary).toMatchObject({ not_sent: 100, unknown: 0 });
    expect(left?.message).toMatch(/Stopped after 3 failures .*; the last one: projects\.list: /);
    expect(entries[0]?.reason).toMatchObject({ kind: run.stoppedBy?.kind });
    expect(journal.records).toEqual([]);
    expect(new Set(operationsOf(emulator))).toEqual(new Set([READ]));
    down.remove();
    expect(await inTime(countsOf(bulkWrite(options)))).toMatchObject({ done: 100, skipped: 0 });
  });

  test.each(DOWN)("in the middle costs what was in progress: %s", async (_, fault) => {
    const { emulator, client } = service({ timeoutMs: 200 });
    const options = { client, items: rowsOf(100), key, send, journal: memoryJournal(), stopAfter: 3 };
    const down = emulator.fault({ skip: 31, times: ALWAYS, ...fault });
    const run = bulkWrite(options);
    const { left } = await inTime(runToEnd(run));
    expect(left?.message).toMatch(/Stopped after 3 failures /);
    expect(run.summary).toMatchObject({ done: 30 });
    expect(run.summary.unknown).toBeGreaterThan(0);
    expect(run.summary.unknown).toBeLessThanOrEqual(10);
    down.remove();
    expect(await inTime(countsOf(bulkWrite(options)))).toMatchObject({ done: 100 - run.summary.unknown });
    expect(Object.values(issueCounts(emulator)).every((count) => count === 1)).toBe(true);
  });
});

describe("a service that is down from the start", () => {
  test("and comes back in time loses nothing", async () => {
    const { emulator, client } = service({ retry: { attempts: 1, minDelayMs: 1, maxDelayMs: 1 } });
    emulator.fault({ times: 9, status: 503 });
    expect(await bulkWrite({ client, items: rowsOf(30), key, send, journal: memoryJournal() })).toMatchObject({
      done: 30,
    });
    expect(readsOf(emulator)).toBe(10);
  });
});

describe("a read under way", () => {
  /** A run of two rows, of which the first is lost, with a service that answers no second read and a `fetch` that heeds no signal. */
  function reading(options: { readonly signal?: AbortSignal } = {}): {
    run: BulkRun<Row, unknown>;
    reads: () => number;
  } {
    const { emulator } = service();
    let reads = 0;
    const client = clientOf(emulator, {
      fetch: async (url, init) => {
        if (init.method === "POST") throw new Error("lost");
        reads += 1;
        return reads === 1 ? emulator.fetch(url, init) : new Promise<never>(() => {});
      },
    });
    const run = bulkWrite({
      client,
      items: rowsOf(2),
      key,
      send,
      journal: memoryJournal(),
      concurrency: 1,
      ...options,
    });
    return { run, reads: () => reads };
  }

  test("is ended by the signal at once", async () => {
    const stop = new AbortController();
    const { run, reads } = reading({ signal: stop.signal });
    const ends = runToEnd(run);
    await expect.poll(reads).toBe(2);
    expect(run.progress).toMatchObject({ unknown: 1, underWay: 1 });
    stop.abort(new Error("enough"));
    expect((await ends).states).toEqual({ "row-1": "unknown", "row-2": "not_sent" });
    expect(run.stoppedBy).toMatchObject({ kind: "abort", cause: { message: "enough" } });
  });
});
