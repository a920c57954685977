/** The outage rule: as a table, and in a run. */
import { describe, expect, test } from "vitest";
import { afterItem, type FailureCount, NO_FAILURES } from "../../src/bulk/failure-count.ts";
import { bulkWrite, memoryJournal } from "../../src/bulk/index.ts";
import {
  ArgumentError,
  type AutomationError,
  ConnectionError,
  NotFoundError,
  RateLimitError,
  ResponseParseError,
  ServerError,
  TimeoutError,
} from "../../src/client/index.ts";
import { DEFAULT_RETRY } from "../../src/core/call/settings.ts";
import type { Fault } from "../../src/testing/index.ts";
import { fakeTime, pass } from "../support/fake-time.ts";
import { clientOf, countsOf, issueCounts, key, rowsOf, runToEnd, send, service } from "./rows.ts";

const ALWAYS = Number.POSITIVE_INFINITY;

const RULES = { ...DEFAULT_RETRY, minDelayMs: 500, maxDelayMs: 8_000, maxRetryAfterMs: 120_000 };
const SERVER = new ServerError("503", { status: 503 });

describe("after an item", () => {
  const rules = { rules: RULES, concurrency: 10, stopAfter: 10, random: 1 };
  /** So many failures, none of them taken back, and none followed by an item that got through. */
  const failing = (failures: number, more: Partial<FailureCount> = {}): FailureCount => ({
    ...NO_FAILURES,
    failures,
    counted: failures,
    inARow: failures,
    width: 1,
    ...more,
  });
  const permanent = new ConnectionError("certificate", { permanent: true });

  type Row = readonly [
    string,
    before: FailureCount,
    failure: AutomationError | undefined,
    countedBefore: number,
    after: Partial<FailureCount>,
  ];
  test.each<Row>([
    ["that got through in a run without failures nothing changes", NO_FAILURES, undefined, 0, NO_FAILURES],
    ["that got through the next two are sent at once", failing(7), undefined, 7, { through: 1, inARow: 0, width: 2 }],
    ["that got through the width doubles", failing(7, { width: 4 }), undefined, 7, { width: 8 }],
    [
      "that got through the width is at most all",
      failing(7, { width: 8 }),
      undefined,
      7,
      { width: Number.POSITIVE_INFINITY },
    ],
    [
      "that is the tenth to get through one failure is taken back",
      failing(7, { through: 9 }),
      undefined,
      7,
      { failures: 6, through: 0, counted: 7 },
    ],
    [
      "that got through, and was begun before the latest failure, nothing changes",
      failing(7),
      undefined,
      6,
      failing(7),
    ],
    ["that failed the next one waits", NO_FAILURES, SERVER, 0, { failures: 1, width: 1, delayMs: 500, isOver: false }],
    ["the wait doubles", failing(1), SERVER, 1, { failures: 2, delayMs: 1_000 }],
    ["the wait has an end", failing(8), SERVER, 8, { failures: 9, delayMs: 8_000, isOver: false }],
    [
      "that failed after one got through the wait begins anew",
      failing(8, { inARow: 0 }),
      SERVER,
      8,
      { failures: 9, delayMs: 500 },
    ],
    [
      "that failed what got through before still counts",
      failing(3, { through: 9, width: 8 }),
      SERVER,
      3,
      { failures: 4, through: 9, width: 1 },
    ],
    ["that was under way with one that failed nothing changes", failing(3), SERVER, 0, failing(3)],
    ["that was the last straw the run stops", failing(9), SERVER, 9, { failures: 10, isOver: true }],
    ["that was lost the next one waits", NO_FAILURES, new ConnectionError("lost"), 0, { delayMs: 500 }],
    [
      "that timed out the next one waits",
      NO_FAILURES,
      new TimeoutError("late", { phase: "headers" }),
      0,
      { delayMs: 500 },
    ],
    [
      "that gave the rate limit up the next one waits",
      NO_FAILURES,
      new RateLimitError("429", { status: 429, retryAfterMs: 600_000 }),
      0,
      { delayMs: 500 },
    ],
    [
      "with a Retry-After the next one waits that long",
      NO_FAILURES,
      new ServerError("503", { status: 503, retryAfterMs: 30_000 }),
      0,
      { delayMs: 30_000 },
    ],
    [
      "with a long Retry-After it waits no longer than the client",
      NO_FAILURES,
      new ServerError("503", { status: 503, retryAfterMs: 9e9 }),
      0,
      { delayMs: 120_000 },
    ],
    [
      "in whose place a page was answered the next one waits",
      NO_FAILURES,
      new ResponseParseError("page", { status: 200 }),
      0,
      { delayMs: 500 },
    ],
    ["with a certificate that is wrong nothing is waited for", NO_FAILURES, permanent, 0, { failures: 1, delayMs: 0 }],
    [
      "with a wrong address nothing is waited for",
      NO_FAILURES,
      new NotFoundError("404", { status: 404 }),
      0,
      { failures: 1, delayMs: 0 },
    ],
    ["whose send failed nothing is waited for", NO_FAILURES, new ArgumentError("x"), 0, { failures: 1, delayMs: 0 }],
  ])("%s", (...[, before, failure, countedBefore, expected]) => {
    expect(afterItem(before, { failure, countedBefore }, rules)).toMatchObject(expected);
  });

  test("stopAfter: false never stops, and 1 stops at once", () => {
    const item = { failure: SERVER, countedBefore: 500 };
    expect(afterItem(failing(500), item, { ...rules, stopAfter: ALWAYS }).isOver).toBe(false);
    expect(afterItem(NO_FAILURES, { failure: SERVER, countedBefore: 0 }, { ...rules, stopAfter: 1 }).isOver).toBe(true);
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
    const { left } = await runToEnd(run);
    expect(left).toMatchObject({ stoppedBy: { kind: "server", status: 503 } });
    expect(left?.message).toMatch(
      /Stopped after 10 failures \(ten items that get through take back one\); the last one: issues\.create: 503/,
    );
    expect(emulator.requests.length).toBe(concurrency + 9);
    expect(run.summary).toMatchObject({ unknown: concurrency + 9, not_sent: items - concurrency - 9 });

    outage.remove();
    expect(await countsOf(bulkWrite(options))).toMatchObject({
      unknown: concurrency + 9,
      done: items - concurrency - 9,
    });
  });

  test("that is over in time costs what was under way, and the rest is sent at full width", async () => {
    const { emulator, client } = service();
    emulator.fault({ times: 12, status: 503 });
    const summary = await countsOf(bulkWrite({ client, items: rowsOf(60), key, send, journal: memoryJournal() }));
    expect(summary).toMatchObject({ unknown: 12, done: 48 });
    const widths = emulator.requests.map(({ inFlight }) => inFlight);
    expect(Math.max(...widths.slice(10, 13))).toBe(1 - 1); // besides the one that came
    expect(Math.max(...widths.slice(13))).toBeGreaterThan(1);
  });

  /** The answer of each second, fourth or twentieth request, as of a backend behind a balancer. */
  const BAD_BACKENDS: readonly (readonly [
    string,
    every: number,
    fault: Fault,
    concurrency: number,
    unknown: number,
  ])[] = [
    ["one of two answers 503", 2, { status: 503 }, 10, 25],
    ["one of two answers 503, all at once", 2, { status: 503 }, 50, 45],
    ["one of four answers 503", 4, { status: 503 }, 10, 30],
    ["one of four answers 503, one at a time", 4, { status: 503 }, 1, 16],
  ];

  test.each(BAD_BACKENDS)("of one bad backend stops the run: %s", async (...[, every, fault, concurrency, most]) => {
    const { emulator, client } = service({ maxConcurrency: concurrency });
    let requests = 0;
    emulator.fault({ match: () => (requests++ + 1) % every === 0, times: ALWAYS, ...fault });
    const run = bulkWrite({ client, items: rowsOf(400), key, send, journal: memoryJournal(), concurrency });
    expect((await runToEnd(run)).left?.message).toMatch(/Stopped after 10 failures /);
    expect(run.summary.unknown).toBeLessThanOrEqual(most);
    expect(run.summary.unknown).toBeGreaterThanOrEqual(10);
    expect(emulator.requests.length).toBe(run.summary.unknown + run.summary.done);
  });

  test.each([1, 10, 50])("in which one of twenty fails stops nothing, %i at once", async (concurrency) => {
    const { emulator, client } = service({ maxConcurrency: concurrency });
    let requests = 0;
    emulator.fault({ match: () => (requests++ + 1) % 20 === 0, times: ALWAYS, status: 503 });
    const run = bulkWrite({ client, items: rowsOf(400), key, send, journal: memoryJournal(), concurrency });
    expect(await countsOf(run)).toMatchObject({ unknown: 20, done: 380 });
  });

  test.each<[string, object, string]>([
    ["503", { status: 503 }, "unknown"],
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
    const { entries, left } = await runToEnd(run);
    expect(left?.message).toMatch(/Stopped after 3 failures /);
    const states = entries.filter((entry) => entry.error !== undefined).map((entry) => entry.state);
    expect(states).toEqual(Array(3).fill(state));
    expect(emulator.requests.length).toBe(fault === LIMIT ? 1 : 3); // a paused token sends nothing
    expect(run.summary.not_sent).toBe(state === "unknown" ? 17 : 20);
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
    const { entries, left } = await runToEnd(run);
    expect(run.summary).toMatchObject({ not_sent: 500 });
    expect(left?.message).toMatch(/10 failures .*send failed before its write: no such column/);
    const touched = entries.filter(({ error }) => error !== undefined).length;
    expect([touched >= 10, touched <= 19]).toEqual([true, true]);
    expect(emulator.requests).toEqual([]);
  });
});

describe("an outage, by the clock", () => {
  fakeTime();

  test("a stop ends the wait", async () => {
    const { emulator } = service();
    const client = clientOf(emulator, { retry: { minDelayMs: 60_000, maxDelayMs: 60_000 } });
    emulator.fault({ status: 500 });
    const stop = new AbortController();
    const options = { client, items: rowsOf(3), key, send, journal: memoryJournal(), concurrency: 1 };
    const ended = runToEnd(bulkWrite({ ...options, signal: stop.signal }));
    await pass(1_000);
    stop.abort();
    expect((await ended).states).toEqual({ "row-1": "unknown", "row-2": "not_sent" });
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
    const { entries, left } = await runToEnd(run);
    expect(left).toMatchObject({ stoppedBy: { kind, status } });
    expect(left?.message).toMatch(/Stopped after 10 failures /);
    expect([emulator.requests.length, run.summary.not_sent]).toEqual([10, 30]);
    expect(entries[0]?.error).toMatchObject({ kind });
    expect(await bulkWrite({ ...options, send })).toMatchObject({ done: 30, skipped: 0 });
    expect(Object.values(issueCounts(emulator))).toEqual(Array(30).fill(1));
  });
});
