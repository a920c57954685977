/** The outage rule: as a table, and in a run. */
import { describe, expect, test } from "vitest";
import { bulkWrite, memoryJournal } from "../../src/bulk/index.ts";
import { afterItem, NO_OUTAGE, type Outage } from "../../src/bulk/outage.ts";
import { valuesIn } from "../../src/bulk/stoppage.ts";
import {
  ArgumentError,
  type AutomationError,
  ConnectionError,
  NotFoundError,
  RateLimitError,
  ServerError,
  TimeoutError,
} from "../../src/client/index.ts";
import { fakeTime, pass } from "../support/fake-time.ts";
import { clientOf, issueCounts, key, type Row, rowsOf, runToEnd, send, service, titled } from "./rows.ts";
import { WatchedJournal } from "./watched-journal.ts";

const ALWAYS = Number.POSITIVE_INFINITY;

describe("after an item", () => {
  const rules = { minDelayMs: 500, maxDelayMs: 8_000, maxRetryAfterMs: 120_000 };
  const server = new ServerError("503", { status: 503 });
  const failing = (failures: number): Outage => ({ failures, delayMs: 0, isOver: false });
  const permanent = new ConnectionError("certificate", { permanent: true });

  type Row = readonly [
    string,
    before: number,
    failure: AutomationError | undefined,
    at: number,
    after: Partial<Outage>,
  ];
  test.each<Row>([
    ["that got through there is no outage", 7, undefined, 7, NO_OUTAGE],
    ["that got through late there is none either", 7, undefined, 0, NO_OUTAGE],
    ["that failed the next one waits", 0, server, 0, { failures: 1, delayMs: 500, isOver: false }],
    ["the wait doubles", 1, server, 1, { failures: 2, delayMs: 1_000 }],
    ["the wait has an end", 8, server, 8, { failures: 9, delayMs: 8_000, isOver: false }],
    ["that was under way with one that failed nothing changes", 3, server, 0, failing(3)],
    ["that was the last straw the run stops", 9, server, 9, { failures: 10, isOver: true }],
    ["that was lost the next one waits", 0, new ConnectionError("lost"), 0, { delayMs: 500 }],
    ["that timed out the next one waits", 0, new TimeoutError("late", { phase: "headers" }), 0, { delayMs: 500 }],
    [
      "that gave the rate limit up the next one waits",
      0,
      new RateLimitError("429", { status: 429, retryAfterMs: 600_000 }),
      0,
      { delayMs: 500 },
    ],
    [
      "with a Retry-After the next one waits that long",
      0,
      new ServerError("503", { status: 503, retryAfterMs: 30_000 }),
      0,
      { delayMs: 30_000 },
    ],
    [
      "with a long Retry-After it waits no longer than the client",
      0,
      new ServerError("503", { status: 503, retryAfterMs: 9e9 }),
      0,
      { delayMs: 120_000 },
    ],
    ["with a certificate that is wrong nothing is waited for", 0, permanent, 0, { failures: 1, delayMs: 0 }],
    [
      "with a wrong address nothing is waited for",
      0,
      new NotFoundError("404", { status: 404 }),
      0,
      { failures: 1, delayMs: 0 },
    ],
    ["whose send failed nothing is waited for", 0, new ArgumentError("x"), 0, { failures: 1, delayMs: 0 }],
  ])("%s", (...[, before, failure, failuresBefore, expected]) => {
    const outage = afterItem(failing(before), { failure, failuresBefore }, { rules, stopAfter: 10, random: 1 });
    expect(outage).toMatchObject(expected);
  });

  test("stopAfter: false never stops, and 1 stops at once", () => {
    const item = { failure: server, failuresBefore: 500 };
    expect(afterItem(failing(500), item, { rules, stopAfter: ALWAYS, random: 1 }).isOver).toBe(false);
    expect(
      afterItem(NO_OUTAGE, { failure: server, failuresBefore: 0 }, { rules, stopAfter: 1, random: 1 }).isOver,
    ).toBe(true);
  });
});

const LIMIT = { status: 429, headers: { "retry-after": "600" } };

describe("an outage", () => {
  test.each([
    [200, 1],
    [2_000, 10],
    [200, 50],
  ])("of %i items, %i at once, costs what was under way and nine more", async (items, concurrency) => {
    const { emulator, client } = service({ maxConcurrency: concurrency });
    const outage = emulator.fault({ times: ALWAYS, status: 503 });
    const options = { client, items: rowsOf(items), key, send, journal: memoryJournal(), concurrency };
    const run = bulkWrite(options);
    const error: unknown = await run.then(
      () => expect.fail("it resolved"),
      (reason: unknown) => reason,
    );
    expect(run.stoppedBy).toBe(error);
    expect(error).toBeInstanceOf(ServerError);
    expect(error).toMatchObject({ status: 503, cause: { kind: "server" } });
    expect(String(error)).toMatch(/the run stopped after 10 failures in a row, .*; the last one: issues\.create: 503/);
    expect(emulator.requests.length).toBe(concurrency + 9);
    expect(run.summary).toMatchObject({ unknown: concurrency + 9, not_sent: items - concurrency - 9 });

    outage.remove();
    expect(await bulkWrite(options)).toMatchObject({ unknown: concurrency + 9, done: items - concurrency - 9 });
  });

  test("that is over in time costs what was under way, and the rest is sent at full width", async () => {
    const { emulator, client } = service();
    emulator.fault({ times: 12, status: 503 });
    const summary = await bulkWrite({ client, items: rowsOf(60), key, send, journal: memoryJournal() });
    expect(summary).toMatchObject({ unknown: 12, done: 48 });
    const widths = emulator.requests.map(({ inFlight }) => inFlight);
    expect(Math.max(...widths.slice(10, 13))).toBe(1 - 1); // besides the one that came
    expect(Math.max(...widths.slice(13))).toBeGreaterThan(1);
  });

  test.each(["done", "refused"])("ends where one item is %s", async (state) => {
    const { emulator, client } = service();
    if (state === "refused") emulator.fault({ ...titled("Issue 10"), status: 422 });
    emulator.fault({ match: ({ body }) => !String((body as Row).title).endsWith("0"), times: ALWAYS, status: 503 });
    const run = bulkWrite({ client, items: rowsOf(38), key, send, journal: memoryJournal(), concurrency: 1 });
    await runToEnd(run);
    expect(run.stoppedBy).toBeUndefined();
    expect(run.summary).toMatchObject({ unknown: 35 });
  });

  test.each<[string, object, string]>([
    ["503", { status: 503 }, "unknown"],
    ["404", { status: 404 }, "not_sent"],
    ["405", { status: 405 }, "not_sent"],
    ["a lost connection", { drop: "before" }, "unknown"],
    ["a rate limit that is given up", LIMIT, "not_sent"],
  ])("of %s stops the run after stopAfter failures", async (_, fault, state) => {
    const { emulator, client } = service();
    emulator.fault({ times: ALWAYS, ...fault });
    const run = bulkWrite({
      client,
      items: rowsOf(20),
      key,
      send,
      journal: memoryJournal(),
      concurrency: 1,
      stopAfter: 3,
    });
    const { entries, error } = await runToEnd(run);
    expect(error).toBeUndefined(); // each entry says so
    expect(String(run.stoppedBy)).toMatch(/the run stopped after 3 failures in a row/);
    const states = entries.filter((entry) => entry.error !== undefined).map((entry) => entry.state);
    expect(states).toEqual(Array(3).fill(state));
    expect(emulator.requests.length).toBe(fault === LIMIT ? 1 : 3); // a paused token sends nothing
    expect(run.summary.not_sent).toBe(state === "unknown" ? 17 : 20);
  });

  test("goes on for ever with stopAfter: false", async () => {
    const { emulator, client } = service();
    emulator.fault({ times: 30, status: 503 });
    const options = { client, items: rowsOf(32), key, send, journal: memoryJournal(), concurrency: 1 };
    expect(await bulkWrite({ ...options, stopAfter: false })).toMatchObject({ unknown: 30, done: 2 });
  });

  test("does not count what resolveUnknown fails with", async () => {
    const { emulator, client } = service();
    const lost = emulator.fault({ times: ALWAYS, drop: "after" });
    const options = { client, items: rowsOf(12), key, send, journal: memoryJournal(), stopAfter: false } as const;
    await runToEnd(bulkWrite(options));
    lost.remove();
    const resolveUnknown = (): Promise<never> => Promise.reject(new Error("search is down"));
    const run = bulkWrite({ ...options, stopAfter: 1, resolveUnknown });
    await runToEnd(run);
    expect(run.stoppedBy).toBeUndefined();
    expect(run.summary).toMatchObject({ unknown: 12 });
  });

  test("holds items whose resolveUnknown says that they are to be sent", async () => {
    const { emulator, client } = service();
    emulator.fault({ times: ALWAYS, drop: "after" });
    const options = { client, items: rowsOf(40), key, send, journal: memoryJournal(), concurrency: 40 };
    const lost = bulkWrite(options);
    await runToEnd(lost);
    expect(lost.summary).toMatchObject({ unknown: 40 }); // all of them were under way together
    const before = emulator.requests.length;
    const resolveUnknown = async () => "not_applied" as const;
    const run = bulkWrite({ ...options, concurrency: 10, resolveUnknown });
    await runToEnd(run);
    expect(emulator.requests.length - before).toBeLessThanOrEqual(19);
  });

  test("counts a send that fails before its write, and waits for nothing", async () => {
    const { emulator, client } = service({ retry: { minDelayMs: 60_000, maxDelayMs: 60_000 } });
    const fails = async (): Promise<never> => {
      throw new TypeError("no such column");
    };
    const run = bulkWrite({ client, items: rowsOf(500), key, send: fails, journal: memoryJournal() });
    const { entries } = await runToEnd(run);
    expect(run.summary).toMatchObject({ not_sent: 500 });
    expect(String(run.stoppedBy)).toMatch(/10 failures in a row, .*send failed before its write: no such column/);
    const touched = entries.filter(({ error }) => error !== undefined).length;
    expect([touched >= 10, touched <= 19]).toEqual([true, true]);
    expect(emulator.requests).toEqual([]);
  });

  test("that stops a run gives items that were not begun its reason", async () => {
    const { emulator, client } = service();
    emulator.fault({ times: ALWAYS, status: 503, body: { error: "down", message: "we are moving" } });
    const run = bulkWrite({ client, items: rowsOf(30), key, send, journal: memoryJournal(), concurrency: 1 });
    const { entries } = await runToEnd(run);
    const reason = {
      kind: "server",
      status: 503,
      code: "down",
      message: "we are moving",
      recordedAt: expect.any(String),
    };
    for (const entry of entries) expect(entry.reason).toMatchObject(reason);
    expect(entries.filter(({ error }) => error !== undefined)).toHaveLength(10);
  });

  test("that hangs is one of requests under way together, which count as one", async () => {
    const { emulator, client } = service({ timeoutMs: 300 });
    emulator.fault({ times: 10, delayMs: ALWAYS });
    const options = { client, items: rowsOf(20), key, send, journal: memoryJournal(), stopAfter: 2 };
    expect(await bulkWrite(options)).toMatchObject({ unknown: 10, done: 10 });
  });
});

describe("an outage, by the clock", () => {
  fakeTime();

  test("waits with the client's backoff between items", async () => {
    const { emulator } = service();
    const client = clientOf(emulator, { retry: { minDelayMs: 1_000, maxDelayMs: 4_000 } });
    emulator.fault({ times: ALWAYS, status: 500 });
    const run = bulkWrite({
      client,
      items: rowsOf(20),
      key,
      send,
      journal: memoryJournal(),
      concurrency: 1,
      stopAfter: 6,
    });
    const ended = runToEnd(run);
    const sent: number[] = [];
    for (let second = 0; second < 20; second += 1) {
      await pass(1_000);
      sent.push(emulator.requests.length);
    }
    await ended;
    // The waits are at most 1, 2, 4, 4 and 4 s, and at least half of that.
    expect(sent[0]).toBe(2);
    expect(sent[14]).toBe(6);
    expect(sent[6]).toBeLessThanOrEqual(5);
  });

  test("a stop ends the wait", async () => {
    const { emulator } = service();
    const client = clientOf(emulator, { retry: { minDelayMs: 60_000, maxDelayMs: 60_000 } });
    emulator.fault({ status: 500 });
    const stop = new AbortController();
    const options = { client, items: rowsOf(3), key, send, journal: memoryJournal(), concurrency: 1 };
    const ended = runToEnd(bulkWrite({ ...options, signal: stop.signal }));
    await pass(1_000);
    stop.abort();
    expect((await ended).states).toEqual({ "row-1": "unknown", "row-2": "not_sent", "row-3": "not_sent" });
  });

  test("a run of which nothing has got through has no etaMs, and gets one when something has", async () => {
    const { emulator } = service();
    const client = clientOf(emulator, { retry: { minDelayMs: 1_000, maxDelayMs: 1_000 } });
    emulator.fault({ times: 5, status: 503 });
    const silence = emulator.fault({ skip: 7, times: 1, delayMs: 5_000 });
    const run = bulkWrite({ client, items: rowsOf(20), key, send, journal: memoryJournal(), concurrency: 1 });
    const ended = runToEnd(run);
    await pass(1_000);
    expect(run.progress).toMatchObject({ ratePerSecond: 0, etaMs: undefined });
    for (let second = 0; second < 20 && silence.hits === 0; second += 1) await pass(500);
    expect(run.progress.done).toBe(2);
    expect(run.progress.etaMs).toBeGreaterThan(0);
    await pass(10_000);
    await ended;
  });
});

describe("an address where there is nothing", () => {
  test.each([
    [404, "not_found"],
    [405, "api"],
  ])("as %i says ten times in a row stops the run, and the corrected run sends all", async (status, kind) => {
    const { emulator, client } = service();
    emulator.fault({ match: ({ path }) => path.includes("we%20b"), times: ALWAYS, status });
    const options = { client, items: rowsOf(30), key, journal: memoryJournal(), concurrency: 1 };
    const run = bulkWrite({
      ...options,
      send: (bound, { title }) => bound.issues.create("we b/ü", { title, type: "bug" }),
    });
    const { entries, error } = await runToEnd(run);
    expect(error).toBeUndefined();
    expect(run.stoppedBy).toMatchObject({ kind, status, cause: { kind } });
    expect(run.stoppedBy?.message).toMatch(
      /10 failures in a row.*: POST \/projects\/\{project\}\/issues with "we b\/ü"$/,
    );
    expect([emulator.requests.length, run.summary.not_sent]).toEqual([10, 30]);
    expect(entries[0]?.error).toMatchObject({ kind });
    expect(await bulkWrite({ ...options, send })).toMatchObject({ done: 30, skipped: 0 });
    expect(Object.values(issueCounts(emulator))).toEqual(Array(30).fill(1));
  });

  test("is named by the values of its URL", () => {
    expect(valuesIn("/projects/{project}/issues", "https://h/v1/projects/a%2Fb/issues?x={y}")).toEqual(["a/b"]);
    expect(valuesIn("/a/{}/b/v{}", "/a/%zz/b/v1")).toEqual(["%zz", "v1"]);
    expect(valuesIn("/projects", "https://h/v1/projects")).toEqual([]);
  });
});

describe("a service that is not there", () => {
  test("has received nothing: the run stops after ten, and the next one sends all", async () => {
    const { emulator } = service();
    const unreachable = (): never => {
      const { hostname } = new URL(emulator.baseUrl);
      throw Object.assign(new TypeError("fetch failed"), { cause: { code: "ENOTFOUND", hostname } });
    };
    const journal = new WatchedJournal();
    const options = { items: rowsOf(60), key, send, journal, concurrency: 1 };
    const away = clientOf(emulator, { fetch: unreachable, retry: { minDelayMs: 1, maxDelayMs: 1, attempts: 1 } });
    const run = bulkWrite({ client: away, ...options });
    await runToEnd(run);
    expect(run.summary).toMatchObject({ not_sent: 60 });
    expect(run.stoppedBy).toBeInstanceOf(ConnectionError);
    expect(journal.records.filter(({ state }) => state === "sending")).toHaveLength(10);
    expect(await bulkWrite({ client: clientOf(emulator), ...options })).toMatchObject({ done: 60 });
  });
});
