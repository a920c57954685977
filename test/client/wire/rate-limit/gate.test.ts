/** The gate: the order and the times of requests after a 429. */
import { describe, expect, test, vi } from "vitest";
import {
  type ClientOptions,
  isAutomationError,
  memoryRateLimiter,
  RateLimitError,
} from "../../../../src/client/index.ts";
import { get, herd, numbers } from "../../../support/calls.ts";
import { allEnded, ended, fakeTime, finish, pass, settleDown, watch } from "../../../support/fake-time.ts";
import {
  after,
  bodyThat,
  connectionLost,
  good,
  never,
  notConnected,
  type Reply,
  responds,
  tooMany,
} from "../../../support/replies.ts";
import { repeatingLast, type ScriptedFetch, scriptedFetch } from "../../../support/scripted-fetch.ts";

fakeTime();

const times = (service: ScriptedFetch): number[] => {
  const first = service.sent[0]?.at ?? 0;
  return service.sent.map(({ at }) => at - first);
};

describe("a pause", () => {
  test("lets requests in flight finish, and sends nothing else", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const service = scriptedFetch((sent) => (sent.index === 0 ? tooMany(10)(sent) : after(500, good)(sent)));
    const done = watch(herd(service.client({ maxConcurrency: 4 }), 20));
    await pass(9_990);
    expect(numbers(service)).toEqual([0, 1, 2, 3]);
    await pass(20);
    expect(numbers(service), "the refused one, alone").toEqual([0, 1, 2, 3, 0]);
    await pass(510);
    expect(numbers(service), "then two").toEqual([0, 1, 2, 3, 0, 4, 5]);
    await pass(510);
    expect(numbers(service), "then as many as may").toEqual([0, 1, 2, 3, 0, 4, 5, 6, 7, 8, 9]);
    expect((await finish(done)).filter(({ error }) => error !== undefined)).toEqual([]);
    expect(numbers(service).slice(4)).toEqual([0, ...Array.from({ length: 16 }, (_, nth) => nth + 4)]);
  });

  test("is not cut short by a shorter Retry-After after a longer one", async () => {
    const service = scriptedFetch(repeatingLast(tooMany(60), after(10, tooMany(1)), good));
    const done = watch(herd(service.client({ maxConcurrency: 2 }), 2));
    await finish(done);
    expect(times(service)[2]).toBeGreaterThanOrEqual(60_000);
  });

  test("is extended by a longer Retry-After after a shorter one", async () => {
    const service = scriptedFetch(repeatingLast(tooMany(1), after(500, tooMany(60)), good));
    await allEnded(herd(service.client({ maxConcurrency: 2 }), 3));
    expect(times(service)[2]).toBeGreaterThanOrEqual(60_500);
  });

  test("that begins while the probe is out ends with a probe of its own", async () => {
    const straggler = after(1_200, tooMany(5));
    const replies: Reply[] = [tooMany(1), straggler, after(400, good)];
    const service = scriptedFetch((sent) => (replies[sent.index] ?? after(300, good))(sent));
    const done = watch(herd(service.client({ maxConcurrency: 10, retry: { rateLimitWaits: 5 } }), 12));
    await pass(0);
    expect(service.sent.length).toBe(10);
    await finish(done);
    const resumed = service.sent.filter(({ at }) => at - (service.sent[0]?.at ?? 0) >= 6_200);
    const [probe, second] = resumed;
    expect((second?.at ?? 0) - (probe?.at ?? 0)).toBeGreaterThanOrEqual(300);
  });

  test("of one token does not affect another", async () => {
    const service = scriptedFetch((sent) => (sent.token === "one" ? tooMany(10)(sent) : good(sent)));
    const rateLimiter = memoryRateLimiter();
    const one = service.client({ token: "one", rateLimiter });
    const two = service.client({ token: "two", rateLimiter });
    const refused = watch([get(one, 1)]);
    await pass(1);
    const { tookMs } = await ended(get(two, 2));
    expect(tookMs).toBeLessThan(50);
    await finish(refused);
  });

  test("ends at once for a new token", async () => {
    const service = scriptedFetch((sent) => (sent.token === "old" ? tooMany(100)(sent) : good(sent)));
    const client = service.client({ token: "old", maxConcurrency: 2 });
    const done = watch(herd(client, 5));
    await pass(1_000);
    expect(service.sent.every(({ token }) => token === "old")).toBe(true);
    client.setToken("new");
    await settleDown();
    expect(client.rateLimit?.pausedUntil).toBeUndefined();
    const settled = await finish(done);
    expect(settled.map(({ error }) => error)).toEqual([undefined, undefined, undefined, undefined, undefined]);
    expect(Math.max(...settled.map(({ tookMs }) => tookMs))).toBeLessThan(1_100);
  });
});

describe("after a probe that fails, another request is sent ahead", () => {
  const failures: readonly { how: string; reply: Reply; options?: ClientOptions }[] = [
    { how: "500", reply: responds(500) },
    { how: "401", reply: responds(401) },
    { how: "a lost connection", reply: connectionLost },
    { how: "a refused connection", reply: notConnected },
    { how: "an attempt timeout", reply: never, options: { timeoutMs: 700 } },
    { how: "a stalled body", reply: bodyThat("stalls"), options: { timeoutMs: 700 } },
  ];
  test.each(failures)("$how", async ({ reply, options = {} }) => {
    const service = scriptedFetch(repeatingLast(tooMany(2), reply, good));
    const settled = await allEnded(herd(service.client({ maxConcurrency: 1, retry: { attempts: 1 }, ...options }), 6));
    const failed = settled.filter(({ error }) => error !== undefined);
    expect(failed).toHaveLength(1);
    expect(isAutomationError(failed[0]?.error)).toBe(true);
    expect(numbers(service)).toEqual([0, 0, 1, 2, 3, 4, 5]);
    expect(Math.max(...times(service))).toBeLessThan(4_000);
  });

  test("its own abort", async () => {
    const controller = new AbortController();
    const service = scriptedFetch(repeatingLast(tooMany(2), never, good));
    const client = service.client({ maxConcurrency: 1 });
    const first = client.sessions.get("0", { signal: controller.signal });
    const done = watch([first, ...[1, 2].map((number) => get(client, number))]);
    await pass(2_500);
    expect(numbers(service)).toEqual([0, 0]);
    controller.abort();
    const [aborted, ...others] = await finish(done);
    expect(aborted?.error).toMatchObject({ kind: "abort" });
    expect(others.map(({ error }) => error)).toEqual([undefined, undefined]);
  });

  test("its total deadline", async () => {
    const service = scriptedFetch(repeatingLast(tooMany(2), never, good));
    const client = service.client({ maxConcurrency: 1 });
    const settled = await allEnded([
      client.sessions.get("0", { totalTimeoutMs: 3_000 }),
      get(client, 1),
      get(client, 2),
    ]);
    expect(settled.map(({ error }) => isAutomationError(error) && error.kind)).toEqual(["timeout", false, false]);
  });

  test("another 429", async () => {
    const service = scriptedFetch(tooMany(2), tooMany(3), good);
    const settled = await allEnded(herd(service.client(), 1));
    expect(settled[0]?.error).toBeUndefined();
    expect(times(service)[2]).toBeGreaterThanOrEqual(5_000);
  });
});

describe("a service that always responds with 429", () => {
  test.each([0, 1, 5])("fails every call after rateLimitWaits: %i pauses", async (rateLimitWaits) => {
    const service = scriptedFetch(tooMany(1));
    const settled = await allEnded(herd(service.client({ maxConcurrency: 3, retry: { rateLimitWaits } }), 50));
    for (const { error } of settled) expect(error).toBeInstanceOf(RateLimitError);
    expect(service.sent.length).toBeLessThanOrEqual(3 + rateLimitWaits);
    // Each pause is at least the requested second, and at most the growing minimum with its jitter.
    expect(Math.max(...settled.map(({ tookMs }) => tookMs))).toBeLessThanOrEqual(rateLimitWaits * 4_500 + 300);
  });

  test("serves later calls in the same way", async () => {
    const service = scriptedFetch(tooMany(1));
    const client = service.client({ retry: { rateLimitWaits: 2 } });
    const early = watch(herd(client, 5));
    await pass(1_500);
    const late = watch(herd(client, 5));
    for (const { error } of [...(await finish(early)), ...(await finish(late))])
      expect(error).toBeInstanceOf(RateLimitError);
    expect(service.sent.length).toBeLessThan(20);
  });

  test("Retry-After: 0 on every 429 causes no loop: the pauses grow", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const service = scriptedFetch(tooMany(0));
    const { error } = await ended(get(service.client({ retry: { rateLimitWaits: 8 } }), 1));
    expect(error).toMatchObject({ kind: "rate_limit", attempts: 9, outcome: "rejected" });
    const gaps = times(service).map((at, index, all) => at - (all[index - 1] ?? 0));
    for (const [index, gap] of gaps.slice(3).entries())
      expect(gap).toBeGreaterThanOrEqual(1.9 * (gaps[index + 2] ?? 0));
    expect(times(service).at(-1)).toBeGreaterThan(10_000);
  });
});

describe("clients that share a limiter", () => {
  test("wait for each other's pause", async () => {
    const service = scriptedFetch((sent) => (sent.index === 0 ? tooMany(4)(sent) : after(50, good)(sent)));
    const rateLimiter = memoryRateLimiter();
    const first = get(service.client({ rateLimiter }), 0);
    await pass(10);
    await allEnded([first, ...herd(service.client({ rateLimiter }), 10)]);
    expect(times(service)[1]).toBeGreaterThanOrEqual(4_000);
  });

  test("clients with limiters of their own do not affect each other", async () => {
    const service = scriptedFetch((sent) => (sent.index === 0 ? tooMany(4)(sent) : good(sent)));
    const first = get(service.client(), 0);
    await pass(10);
    const { tookMs } = await ended(get(service.client(), 1));
    expect(tookMs).toBeLessThan(50);
    await ended(first);
  });
});
