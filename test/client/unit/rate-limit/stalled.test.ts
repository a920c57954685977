/** Requests without a response: how long they delay others, and what they occupy until they end. */
import { getEventListeners } from "node:events";
import { describe, expect, test, vi } from "vitest";
import { memoryRateLimiter } from "../../../../src/client/index.ts";
import type { Admission, Permit, RateLimiter } from "../../../../src/core/rate-limit/rate-limiter.ts";
import { fakeTime, pass } from "../../../support/fake-time.ts";

fakeTime();

const TOKEN = "pat_key_secret";
/** As docs/retries.md states it. */
const STALLED_AFTER_MS = 5_000;
const response = (status: number, remaining?: number, retryAfterMs?: number) => ({
  status,
  remaining,
  retryAfterMs,
  limit: undefined,
});

class Call {
  readonly permit: Permit;
  readonly abort = new AbortController();
  state: Admission["kind"] | "waiting" = "waiting";

  constructor(limiter: RateLimiter, { token = TOKEN, maxConcurrency = 10, maxPauses = 5, timeoutMs = Infinity } = {}) {
    const { signal } = this.abort;
    const service = "https://a.example/api/v1";
    const limits = { service, maxConcurrency, maxPauses, maxPauseMs: Infinity, endsAt: Infinity, timeoutMs };
    this.permit = limiter.enter({ ...limits, signal });
    void this.start(token);
  }

  async start(token = TOKEN): Promise<void> {
    this.state = "waiting";
    const admission = await this.permit.acquire(token);
    this.state = admission.kind;
  }

  end(...[status, remaining, retryAfterMs]: Parameters<typeof response>): void {
    this.permit.report(response(status, remaining, retryAfterMs));
    this.permit.release();
  }
}

describe("a request that hangs", () => {
  test("after a pause, sends another request ahead after a bounded time, and that one opens the gate", async () => {
    const limiter = memoryRateLimiter();
    const first = new Call(limiter);
    await pass(0);
    first.end(429, undefined, 1_000);
    const [probe, ...others] = [first, new Call(limiter), new Call(limiter), new Call(limiter)];
    void probe.start();
    await pass(1_100);
    expect(others.map(({ state }) => state)).toEqual(["waiting", "waiting", "waiting"]);
    await pass(STALLED_AFTER_MS);
    expect(others.map(({ state }) => state)).toEqual(["admitted", "waiting", "waiting"]);
    others[0]?.end(200);
    await pass(0);
    expect(others.map(({ state }) => state)).toEqual(["admitted", "admitted", "admitted"]);
    probe.end(200);
    for (const other of others.slice(1)) other.end(200);
  });

  test("counts against maxConcurrency until it ends", async () => {
    const limiter = memoryRateLimiter();
    const [hanging, next] = [new Call(limiter, { maxConcurrency: 1 }), new Call(limiter, { maxConcurrency: 1 })];
    await pass(60_000);
    expect(next.state).toBe("waiting");
    hanging.permit.release();
    await pass(0);
    expect(next.state).toBe("admitted");
    next.end(200);
  });

  // A platform may have dropped its call, which never releases it.
  test.each([
    ["its time limit", 30_000, 30_000],
    ["five minutes, without one", Infinity, 300_000],
    ["five minutes, with a longer one", 3_600_000, 300_000],
  ])("has a slot until %s", async (_, timeoutMs, endsMs) => {
    const limiter = memoryRateLimiter();
    const limits = { maxConcurrency: 1, timeoutMs };
    const [dropped, next, last] = [new Call(limiter, limits), new Call(limiter, limits), new Call(limiter, limits)];
    await pass(endsMs - 1);
    expect([dropped.state, next.state]).toEqual(["admitted", "waiting"]);
    await pass(300);
    expect([next.state, last.state]).toEqual(["admitted", "waiting"]);
    expect(dropped.permit.report(response(200))).toBeUndefined();
    dropped.permit.release();
    await pass(0);
    expect(last.state, "its late release frees no other slot").toBe("waiting");
    next.end(200);
    await pass(0);
    expect(last.state).toBe("admitted");
    last.end(200);
  });
});

test("a request that took longer than its slot lasts, and is answered 429, pauses its token and waits", async () => {
  const limiter = memoryRateLimiter();
  const late = new Call(limiter, { maxConcurrency: 1 });
  await pass(301_000);
  const next = new Call(limiter, { maxConcurrency: 1 });
  await pass(0);
  expect(next.state).toBe("admitted");
  expect(late.permit.report(response(429, 0, 10_000))).toMatchObject({ waits: true });
  expect(limiter.snapshot(TOKEN, "https://a.example/api/v1")?.pausedUntil).toBeInstanceOf(Date);
  void late.start();
  next.end(200);
  await pass(9_000);
  expect(late.state).toBe("waiting");
  await pass(2_000);
  expect(late.state).toBe("admitted");
  late.end(200);
});

describe("maxConcurrency", () => {
  test("is that of each call: the first one waits until fewer are in flight, and those behind it with it", async () => {
    const limiter = memoryRateLimiter();
    const wide = [1, 2].map(() => new Call(limiter));
    const narrow = new Call(limiter, { maxConcurrency: 1 });
    const behind = new Call(limiter);
    await pass(0);
    expect([narrow.state, behind.state]).toEqual(["waiting", "waiting"]);
    wide[0]?.end(200);
    await pass(0);
    expect([narrow.state, behind.state]).toEqual(["waiting", "waiting"]);
    wide[1]?.end(200);
    await pass(0);
    expect([narrow.state, behind.state]).toEqual(["admitted", "admitted"]);
    for (const call of [narrow, behind]) call.end(200);
  });
});

test("a call fails after maxPauses pauses in a row, and counts from zero after a request that succeeded", async () => {
  const limiter = memoryRateLimiter();
  vi.spyOn(Math, "random").mockReturnValue(0);
  const front = new Call(limiter, { maxConcurrency: 1, maxPauses: 100 });
  const patient = new Call(limiter, { maxConcurrency: 1, maxPauses: 2 });
  await pass(0);
  const pauseTwice = async (): Promise<void> => {
    for (let pause = 0; pause < 2; pause += 1) {
      front.end(429, undefined, 1_000);
      void front.start();
      await pass(1_100);
    }
  };
  await pauseTwice();
  expect(patient.state).toBe("waiting");
  front.end(200);
  await pass(0);
  expect(patient.state, "it got through").toBe("admitted");
  patient.end(200);
  void front.start();
  await pass(0);
  const impatient = new Call(limiter, { maxConcurrency: 1, maxPauses: 2 });
  await pauseTwice();
  expect(impatient.state).toBe("waiting");
  front.end(429, undefined, 1_000);
  await pass(0);
  expect(impatient.state).toBe("refused");
  await pass(60_000);
});

test("a waiting call has one listener on its signal, and none after it has ended", async () => {
  const limiter = memoryRateLimiter();
  const [first, waiting] = [new Call(limiter), new Call(limiter, { maxConcurrency: 1 })];
  await pass(0);
  expect(getEventListeners(waiting.abort.signal, "abort")).toHaveLength(1);
  waiting.abort.abort();
  await pass(0);
  expect(waiting.state).toBe("stopped");
  expect(getEventListeners(waiting.abort.signal, "abort")).toEqual([]);
  first.end(200);
});
