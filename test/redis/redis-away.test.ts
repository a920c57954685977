/** A process whose Redis does not reply, fails, or sends invalid replies. */
import { EventEmitter, getEventListeners } from "node:events";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Permit } from "../../src/core/rate-limit/rate-limiter.ts";
import { type FleetEvent, redisRateLimiter } from "../../src/redis/index.ts";
import { SYNC } from "../../src/redis/scripts.ts";
import { reply } from "./reply.ts";

const TOKEN = "pat_key_secret";
const ANSWER = { status: 200, retryAfterMs: undefined, limit: undefined, remaining: undefined };
const granted = async (): Promise<unknown> => reply("granted");

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] }));
afterEach(() => void vi.useRealTimers());

function withRedis(
  given: (() => Promise<unknown>) | (EventEmitter & { eval: () => Promise<unknown> }),
  onEvent: (event: FleetEvent) => void = () => {},
  leaseMs = 5_000,
) {
  const client = typeof given === "function" ? { eval: given } : given;
  const asked = vi.spyOn(client, "eval");
  const limiter = redisRateLimiter({ client: Object.assign(client, { isOpen: true }), leaseMs, onEvent });
  const enter = (signal = new AbortController().signal): Permit =>
    limiter.enter({
      service: "https://a.example/api/v1",
      maxConcurrency: 10,
      maxPauses: 5,
      maxPauseMs: Number.POSITIVE_INFINITY,
      endsAt: Number.POSITIVE_INFINITY,
      timeoutMs: 30_000,
      signal,
    });
  /** Resolves after the next command to Redis: the hash of the token takes a moment of real time. */
  const asksAfter = async (before: number): Promise<void> => {
    while (asked.mock.calls.length === before) await setImmediate();
  };
  /** A complete attempt; the time of Redis passes at once. */
  const attempt = async (): Promise<boolean> => {
    const permit = enter();
    const before = asked.mock.calls.length;
    let isAdmitted = false;
    const admitted = Promise.resolve(permit.acquire(TOKEN)).then(({ kind }) => {
      isAdmitted = kind === "admitted";
    });
    await setImmediate();
    if (!isAdmitted) await asksAfter(before);
    for (let turn = 0; turn < 5; turn += 1) await setImmediate();
    if (!isAdmitted) await vi.advanceTimersByTimeAsync(300);
    await admitted;
    permit.report(ANSWER);
    permit.release();
    return isAdmitted;
  };
  return { asked, asksAfter, enter, attempt };
}

describe("no timer stays, and no rejection is left alone, when Redis", () => {
  const behaviours: readonly [string, () => Promise<unknown>, string | undefined][] = [
    ["replies", granted, undefined],
    ["never replies", () => new Promise(() => {}), "timeout"],
    ["fails", () => Promise.reject(new Error("Connection is closed.")), "error"],
    [
      "throws",
      () => {
        throw new Error("closed");
      },
      "error",
    ],
    ["says other things", async () => [1, "maybe"], "error"],
  ];
  test.each(behaviours)("%s", async (_, evaluate, reason) => {
    const events: FleetEvent[] = [];
    const { attempt } = withRedis(evaluate, (event) => void events.push(event));
    expect(await attempt()).toBe(true);
    await vi.advanceTimersByTimeAsync(300);
    expect(vi.getTimerCount()).toBe(0);
    expect(events).toMatchObject(reason === undefined ? [] : [{ type: "degraded", reason }]);
  });
});

test("only calls connect to an unavailable Redis again, less and less often", async () => {
  const { asked, attempt } = withRedis(() => Promise.reject(Object.assign(new Error(), { code: "ECONNREFUSED" })));
  await attempt();
  const counts = [];
  for (let second = 0; second < 30; second += 1) {
    const before = asked.mock.calls.length;
    for (let call = 0; call < 10; call += 1) {
      await attempt();
      await vi.advanceTimersByTimeAsync(100);
    }
    counts.push(asked.mock.calls.length - before);
  }
  expect(counts[0]).toBeGreaterThan(0);
  expect(counts[0]).toBeLessThanOrEqual(3);
  expect(counts.slice(20).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(3);
  const before = asked.mock.calls.length;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked.mock.calls.length, "nobody calls").toBe(before);
});

// A process that was busy when Redis replied believes that its clock is behind, and Redis takes the next command for late.
test("a trial that Redis takes for late has told it nothing, and is repeated", async () => {
  const events: FleetEvent[] = [];
  const outcomes = ["late", "late", "late"];
  let isAway = true;
  const evaluate = async (): Promise<unknown> => {
    if (isAway) throw new Error("Connection is closed.");
    return reply(outcomes.shift() ?? "granted");
  };
  const { attempt } = withRedis(evaluate, (event) => void events.push(event));
  await attempt();
  isAway = false;
  await vi.advanceTimersByTimeAsync(300);
  await attempt();
  expect(outcomes, "tried twice").toHaveLength(1);
  expect(events).toMatchObject([
    { type: "degraded", reason: "error", message: expect.stringMatching(/^Redis failed/) },
  ]);
  await vi.advanceTimersByTimeAsync(600);
  await attempt();
  expect(events.at(-1)).toMatchObject({ type: "rejoined" });
});

test("what a process holds is told again if Redis took that for late", async () => {
  const outcomes = ["granted", "late"];
  const { asked, attempt } = withRedis(async () => reply(outcomes.shift() ?? "done"));
  await attempt();
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  const scripts = asked.mock.calls.map((call: readonly unknown[]) => call[0]);
  expect(scripts, "a slot, the report that was late, and what is held").toHaveLength(3);
  expect(scripts[2]).toBe(SYNC);
});

test("a process that tells what it holds before a first reply has come keeps its place in the queue", async () => {
  // So short that it tells this before the reply is given up.
  const leaseMs = 600;
  const { asked, asksAfter, enter } = withRedis(() => new Promise(() => {}), undefined, leaseMs);
  const abort = new AbortController();
  const admission = enter(abort.signal).acquire(TOKEN);
  await asksAfter(0);
  await vi.advanceTimersByTimeAsync(leaseMs / 3);
  const [script, options] = asked.mock.calls[1] as readonly unknown[] as [string, { arguments: string[] }]; // node-redis
  expect(script).toBe(SYNC);
  expect(options.arguments[6], "it waits").toBe("1");
  abort.abort();
  await admission;
});

test.each([
  [
    "throws",
    () => {
      throw new Error("listener");
    },
  ],
  ["rejects", () => Promise.reject(new Error("listener"))], // unhandled, it would fail the run
])("a listener that %s troubles nobody", async (_, listener: () => void) => {
  const { attempt } = withRedis(() => Promise.reject(new Error()), listener);
  expect(await attempt()).toBe(true);
});

test("a call that is aborted before Redis has replied ends at once and holds no slot", async () => {
  const replies: ((reply: unknown) => void)[] = [];
  const { asked, asksAfter, enter } = withRedis(() => new Promise((resolve) => void replies.push(resolve)));
  const abort = new AbortController();
  const permit = enter(abort.signal);
  const admission = permit.acquire(TOKEN);
  await asksAfter(0);
  abort.abort();
  expect(await admission).toEqual({ kind: "stopped" });
  permit.release();
  replies[0]?.(await granted());
  await vi.advanceTimersByTimeAsync(10);
  const given = asked.mock.calls.map((call: readonly unknown[]) => (call[1] as { arguments: string[] }).arguments);
  expect(given[1]?.slice(6, 8), "the slot is given back").toEqual([given[0]?.[6], "left"]);
  await vi.advanceTimersByTimeAsync(300);
  expect(vi.getTimerCount()).toBe(0);
  expect(getEventListeners(abort.signal, "abort")).toEqual([]);
});

test("a call that acquires again asks Redis again", async () => {
  const { asked, asksAfter, enter } = withRedis(granted);
  const permit = enter();
  await permit.acquire(TOKEN);
  await vi.advanceTimersByTimeAsync(1_000);
  const acquired = permit.acquire(TOKEN);
  await asksAfter(1);
  expect(await acquired).toEqual({ kind: "admitted" });
  const slots = asked.mock.calls.map((call: readonly unknown[]) => (call[1] as { arguments: string[] }).arguments[6]);
  expect(slots[0]).toBe(slots[1]);
  permit.report(ANSWER);
  permit.release();
});

const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });

test.each<[string, { isOpen: boolean; isReady?: boolean; isReadyAfter?: boolean; error: Error }, object]>([
  [
    "was not connected",
    { isOpen: false, error: new Error("The client is closed") },
    { reason: "not_connected", message: "the Redis client is not connected: call its connect()" },
  ],
  [
    "is of a cluster and connects",
    { isOpen: true, isReady: false, error: new Error("The client is offline") },
    { reason: "not_connected", message: "the Redis client has no connection yet" },
  ],
  [
    "has connected and is refused",
    { isOpen: true, isReady: false, isReadyAfter: true, error: new Error("NOPERM this user has no permissions") },
    { reason: "error", code: "NOPERM", message: "Redis failed (NOPERM)" },
  ],
  [
    "cannot connect",
    { isOpen: true, isReady: false, error: refused },
    { reason: "error", code: "ECONNREFUSED", message: "Redis failed (ECONNREFUSED)" },
  ],
])("a client that %s is named in words, once, and calls go on", async (_, { error, isReadyAfter, ...state }, told) => {
  const events: unknown[] = [];
  const client = {
    ...state,
    eval: () => {
      if (isReadyAfter !== undefined) client.isReady = isReadyAfter;
      return Promise.reject(error);
    },
  };
  const limiter = redisRateLimiter({ client, onEvent: (event) => void events.push(event) });
  const permit = limiter.enter({
    service: "https://a.example/api/v1",
    maxConcurrency: 10,
    maxPauses: 5,
    maxPauseMs: 1_000,
    endsAt: Number.POSITIVE_INFINITY,
    timeoutMs: 30_000,
    signal: new AbortController().signal,
  });
  expect(await permit.acquire("token")).toEqual({ kind: "admitted" });
  permit.release();
  expect(events).toEqual([{ type: "degraded", ...told }]);
});

test("what a client cannot do has the code of its latest error, until Redis has replied", async () => {
  const events: FleetEvent[] = [];
  let evaluate: () => Promise<unknown> = () => new Promise(() => {});
  const client = Object.assign(new EventEmitter(), { eval: () => evaluate() });
  const { attempt } = withRedis(client, (event) => void events.push(event));
  client.emit("error", new Error("WRONGPASS invalid username-password pair of pat_key_secret"));
  await attempt();
  const message = "Redis did not reply within 250 ms (WRONGPASS)";
  expect(events).toEqual([{ type: "degraded", reason: "timeout", code: "WRONGPASS", message }]);
  evaluate = granted;
  while (events.at(-1)?.type !== "rejoined") {
    await vi.advanceTimersByTimeAsync(5_000);
    await attempt();
  }
  evaluate = () => Promise.reject(new Error("Connection is closed."));
  await attempt();
  expect(events.slice(2)).toEqual([{ type: "degraded", reason: "error", message: "Redis failed" }]);
});
