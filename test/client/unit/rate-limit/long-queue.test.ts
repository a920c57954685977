/** A queue of any length: what an event costs does not grow with it, and no dropped call holds it up. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { memoryRateLimiter } from "../../../../src/client/index.ts";
import type { Admission, Permit, RateLimiter } from "../../../../src/core/rate-limit/rate-limiter.ts";
import type { Ticket } from "../../../../src/core/rate-limit/token-gate.ts";
import { dropTimers, runDroppably, settle } from "./limiter-model.ts";

const TOKEN = "pat_key_secret";
const realSetTimeout = globalThis.setTimeout;
let timers = 0;

/** Reads of what permits hold, and permits that a method of an array goes past. */
let looks = 0;
const permits = new Set<unknown>();
const SEARCHES = ["indexOf", "includes", "find", "findIndex", "filter", "forEach", "slice", "splice", "shift"] as const;
const searches = SEARCHES.map((name) => [name, Array.prototype[name]] as const);

function countLooks(permit: object): void {
  permits.add(permit);
  for (const [name, first] of Object.entries(permit)) {
    let value: unknown = first;
    const set = (next: unknown): void => {
      value = next;
    };
    const get = (): unknown => {
      looks += 1;
      return value;
    };
    Object.defineProperty(permit, name, { get, set });
  }
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
  dropTimers();
  [timers, looks] = [0, 0];
  permits.clear();
  for (const [name, search] of searches) {
    const counting = function (this: unknown[], ...args: unknown[]): unknown {
      if (permits.has(this[this.length - 1])) looks += this.length;
      return Reflect.apply(search, this, args);
    };
    Object.assign(Array.prototype, { [name]: counting });
  }
  const set = globalThis.setTimeout;
  globalThis.setTimeout = ((action: () => void, ms?: number) => {
    timers += 1;
    return set(action, ms);
  }) as typeof setTimeout; // the other forms of it are not used
});
afterEach(() => {
  vi.useRealTimers();
  globalThis.setTimeout = realSetTimeout;
  for (const [name, search] of searches) Object.assign(Array.prototype, { [name]: search });
});

const service = "https://a.example/api/v1";
const limits = { service, maxConcurrency: 10, maxPauses: 5, maxPauseMs: Infinity, endsAt: Infinity, timeoutMs: 30_000 };
const head = (status: number) => ({ status, limit: undefined, remaining: undefined, retryAfterMs: 1_000 });

class Call {
  readonly abort = new AbortController();
  readonly permit: Permit;
  state: Admission["kind"] | "waiting" | "dropped" | "over" = "waiting";

  constructor(limiter: RateLimiter) {
    this.permit = limiter.enter({ ...limits, signal: this.abort.signal });
    countLooks(this.permit);
    void runDroppably(this, () => this.start());
  }

  async start(): Promise<void> {
    this.state = "waiting";
    const { kind } = await this.permit.acquire(TOKEN);
    if (this.state === "waiting") this.state = kind;
  }

  /** Its platform runs nothing of it any more. */
  drop(): void {
    (this.permit as Ticket).wake = () => undefined; // the limiter's own permits are tickets
    this.state = "dropped";
  }

  end(status: number): void {
    this.permit.report(head(status));
    this.permit.release();
    this.state = "over";
  }
}

const inState = (calls: readonly Call[], state: Call["state"]): Call[] => calls.filter((call) => call.state === state);

/** What a call of a queue costs, which runs to its end: one response a millisecond. */
async function costPerCall(length: number, pauseAt?: number): Promise<{ timers: number; looks: number }> {
  const limiter = memoryRateLimiter();
  const calls = Array.from({ length }, () => new Call(limiter));
  timers = 0;
  let next = 0;
  for (let ended = 0; ended < length; ended += 1) {
    await vi.advanceTimersByTimeAsync(1);
    while (calls[next]?.state !== "admitted") next = (next + 1) % length;
    const call = calls[next] as Call; // its state was read
    call.end(ended === pauseAt ? 429 : 200);
    if (ended === pauseAt) {
      void call.start();
      next = 0;
      ended -= 1;
      pauseAt = undefined;
      await vi.advanceTimersByTimeAsync(1_100);
    }
  }
  await settle();
  expect(inState(calls, "over")).toHaveLength(length);
  expect(looks, "they are counted").toBeGreaterThan(length);
  return { timers: timers / length, looks: looks / length };
}

// At one response a millisecond. Each waiter that woke four times a second would set more than ten.
test.each([
  ["without a pause", undefined],
  ["through a pause", 150],
])("%s, a call of a long queue sets few timers, and looks at few others", async (_, pauseAt) => {
  const cost = await costPerCall(3_000, pauseAt);
  expect(cost.timers).toBeLessThan(4);
  expect(cost.looks).toBeLessThan(100);
});

test.each([
  ["in order", 1],
  ["all over the queue", 997],
])("a call of a long queue that is aborted %s looks at few others", async (_, step) => {
  const limiter = memoryRateLimiter();
  const calls = Array.from({ length: 2_000 }, () => new Call(limiter));
  await settle();
  looks = 0;
  for (let count = 0; count < calls.length; count += 1) {
    const call = calls[(count * step) % calls.length];
    if (call?.state === "waiting") call.abort.abort();
  }
  await settle();
  expect(inState(calls, "waiting")).toEqual([]);
  expect(looks / calls.length).toBeLessThan(100);
  for (const call of inState(calls, "admitted")) call.end(200);
});

test("hundreds of calls that wait are not awake at once", async () => {
  const limiter = memoryRateLimiter();
  const calls = Array.from({ length: 2_000 }, () => new Call(limiter));
  await settle();
  timers = 0;
  // Slots are given and taken for a minute; nothing ends in time for the others.
  for (let at = 0; at < 200; at += 1) {
    await vi.advanceTimersByTimeAsync(100);
    inState(calls, "admitted")[0]?.end(200);
  }
  expect(timers).toBeLessThan(20_000);
  for (const call of calls) call.abort.abort();
  await settle();
  expect(inState(calls, "waiting")).toEqual([]);
  for (const call of inState(calls, "admitted")) call.end(200);
  expect(vi.getTimerCount()).toBe(0);
});

describe("where a platform dropped", () => {
  test.each([
    ["the first half", (at: number, length: number) => at < length / 2],
    ["the last half", (at: number, length: number) => at >= length / 2],
    ["every second one", (at: number) => at % 2 === 0],
    ["all but one", (at: number) => at !== 77],
  ])("%s of those who wait, the others get through", async (_, isDropped) => {
    const length = 200;
    const limiter = memoryRateLimiter();
    const calls = Array.from({ length }, () => new Call(limiter));
    await settle();
    calls[0]?.end(429);
    void calls[0]?.start();
    for (const [at, call] of calls.entries()) if (call.state !== "over" && isDropped(at, length)) call.drop();
    const living = calls.filter(({ state }) => state !== "dropped");
    // A slot of a dropped call lasts for 250 ms where it was given, and for its time limit where it was taken.
    for (let steps = 0; inState(living, "over").length < living.length; steps += 1) {
      expect(steps, "everything comes to an end").toBeLessThan(2_000);
      await vi.advanceTimersByTimeAsync(100);
      for (const call of inState(living, "admitted")) call.end(200);
    }
  });
});
