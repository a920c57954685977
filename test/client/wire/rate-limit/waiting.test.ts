/** Calls that wait at the gate: deadlines, caps, aborts, order. */
import { getEventListeners } from "node:events";
import { describe, expect, test, vi } from "vitest";
import { RateLimitError } from "../../../../src/client/index.ts";
import { get, herd, kinds, numbers } from "../../../support/calls.ts";
import { allEnded, ended, fakeTime, finish, pass, watch } from "../../../support/fake-time.ts";
import { fetchFailed } from "../../../support/fetch-errors.ts";
import { after, good, never, responds, status, tooMany } from "../../../support/replies.ts";
import { repeatingLast, scriptedFetch } from "../../../support/scripted-fetch.ts";

fakeTime();

describe("a wait that is too long fails now", () => {
  test("over maxRetryAfterMs, for the rejected call and for those that wait", async () => {
    const service = scriptedFetch((sent) => (sent.index === 0 ? tooMany(121)(sent) : never(sent)));
    const settled = await allEnded(herd(service.client({ maxConcurrency: 1 }), 3));
    expect(kinds(settled)).toEqual(["rate_limit", "rate_limit", "rate_limit"]);
    expect(Math.max(...settled.map(({ tookMs }) => tookMs))).toBeLessThan(5);
    expect(settled[0]?.error).toMatchObject({ retryAfterMs: 121_000, outcome: "rejected", attempts: 1, status: 429 });
    for (const { error } of settled.slice(1)) {
      expect(error).toMatchObject({ outcome: "not_sent", attempts: 0 });
      if (!(error instanceof RateLimitError)) throw error;
      expect(error.retryAfterMs).toBeGreaterThan(120_990);
    }
    expect(service.sent).toHaveLength(1);
  });

  test.each([
    [0, "not sent: the rate limit pauses this token for another "],
    [1, "not sent again: the rate limit pauses this token for another "],
  ])("a call of %i requests so far says so", async (requests, words) => {
    const service = scriptedFetch((sent) =>
      sent.path.includes("sessions") ? tooMany(600)(sent) : responds(500)(sent),
    );
    const client = service.client();
    const other = (): Promise<unknown> => ended(get(client, 0, { retry: false }));
    if (requests === 0) await other();
    const call = watch([client.tokens.revoke("tok_1")]);
    await pass(1);
    if (requests === 1) await other();
    const [settled] = await finish(call);
    expect(settled?.error).toMatchObject({ attempts: requests, outcome: requests === 0 ? "not_sent" : "unknown" });
    expect(settled?.error).toHaveProperty("message", expect.stringContaining(`tokens.revoke: ${words}`));
  });

  test("just below it waits in full", async () => {
    const service = scriptedFetch(tooMany(120), good);
    const { error, tookMs } = await ended(get(service.client(), 1));
    expect(error).toBeUndefined();
    expect(tookMs).toBeGreaterThanOrEqual(120_000);
    expect(tookMs).toBeLessThanOrEqual(121_000);
  });

  test("each waiting call has its own maxRetryAfterMs", async () => {
    const service = scriptedFetch(repeatingLast(tooMany(60), good));
    const client = service.client({ maxConcurrency: 1 });
    const settled = await allEnded([
      get(client, 0, { retry: { maxRetryAfterMs: 10_000 } }),
      get(client, 1, { retry: { maxRetryAfterMs: 10_000 } }),
      get(client, 2),
    ]);
    expect(kinds(settled)).toEqual(["rate_limit", "rate_limit", undefined]);
    expect(settled[2]?.tookMs).toBeGreaterThanOrEqual(60_000);
  });

  test("longer than the rest of totalTimeoutMs", async () => {
    const service = scriptedFetch(tooMany(30), good);
    const client = service.client({ maxConcurrency: 1 });
    const settled = await allEnded([
      get(client, 0, { totalTimeoutMs: 20_000 }),
      get(client, 1, { totalTimeoutMs: 20_000 }),
      get(client, 2, { totalTimeoutMs: 50_000 }),
    ]);
    expect(kinds(settled)).toEqual(["rate_limit", "rate_limit", undefined]);
    expect(settled[0]?.tookMs).toBeLessThan(5);
    expect(settled[1]?.tookMs).toBeLessThan(5);
  });

  test("with retries off, a call that finds the gate closed", async () => {
    const service = scriptedFetch(tooMany(10), good);
    const client = service.client();
    const [first, second] = await allEnded([get(client, 0, { retry: false })]).then(async (settled) => [
      ...settled,
      ...(await allEnded([get(client, 1, { retry: false })])),
    ]);
    expect(first?.error).toMatchObject({ kind: "rate_limit", attempts: 1, retryAfterMs: 10_000, outcome: "rejected" });
    expect(second?.error).toMatchObject({ kind: "rate_limit", attempts: 0, outcome: "not_sent" });
    expect(second?.tookMs).toBeLessThan(5);
    expect(service.sent).toHaveLength(1);
    await pass(11_000);
    expect((await ended(get(client, 2, { retry: false }))).error, "once it is over").toBeUndefined();
  });

  test("reports how long the gate is closed, also if another call's 429 closed it for longer", async () => {
    const service = scriptedFetch(tooMany(1), after(100, tooMany(300)));
    const [first] = await allEnded(herd(service.client({ maxConcurrency: 2 }), 2));
    expect(first?.error).toMatchObject({ kind: "rate_limit", attempts: 1 });
    if (!(first?.error instanceof RateLimitError)) throw first?.error;
    expect(first.error.retryAfterMs).toBeGreaterThan(299_000);
  });

  test("counts what was sent in between, and that it may have been applied", async () => {
    const service = scriptedFetch(tooMany(1), responds(500), (sent) => tooMany(300)(sent));
    const client = service.client({ retry: { minDelayMs: 1_000 } });
    const revoked = watch([client.tokens.revoke("tok_1")]);
    await pass(1_060);
    expect(service.sent).toHaveLength(2);
    await ended(get(client, 9)); // closes the gate while the first call backs off
    const [first] = await finish(revoked);
    expect(first?.error).toMatchObject({ kind: "rate_limit", attempts: 2, outcome: "unknown" });
  });
});

describe("the end of a wait", () => {
  test("an aborted waiting call ends at once and the others keep their order", async () => {
    const service = scriptedFetch(repeatingLast(tooMany(5), good));
    const controller = new AbortController();
    const client = service.client({ maxConcurrency: 1 });
    const done = watch(
      [0, 1, 2, 3, 4].map((number) => get(client, number, number % 2 ? { signal: controller.signal } : {})),
    );
    await pass(1_000);
    controller.abort("enough");
    const settled = await finish(done);
    expect(kinds(settled)).toEqual([undefined, "abort", undefined, "abort", undefined]);
    expect(settled[1]?.error).toMatchObject({ cause: "enough", outcome: "not_sent", attempts: 0 });
    expect(settled[1]?.tookMs).toBe(1_000);
    expect(numbers(service)).toEqual([0, 0, 2, 4]);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  test("a waiting call whose deadline passes rejects with phase queue", async () => {
    const service = scriptedFetch((sent) => (sent.index === 0 ? never(sent) : good(sent)));
    const client = service.client({ maxConcurrency: 1, timeoutMs: 5_000, retry: false });
    const settled = await allEnded([get(client, 0), get(client, 1, { totalTimeoutMs: 300 }), get(client, 2)]);
    expect(settled[1]?.error).toMatchObject({ kind: "timeout", phase: "queue", outcome: "not_sent", attempts: 0 });
    expect(settled[1]?.tookMs).toBeLessThan(310);
    expect(numbers(service)).toEqual([0, 2]);
  });

  test("a timer that is lost, as those of a test are with its fake clock, holds up no later call", async () => {
    const service = scriptedFetch(repeatingLast(tooMany(1), good));
    const client = service.client({ timeoutMs: false });
    const first = watch([get(client, 0)]);
    await pass(100);
    vi.clearAllTimers();
    expect((await ended(get(client, 1))).error).toBeUndefined();
    expect(kinds(await finish(first))).toEqual([undefined]);
  });

  test.each([
    ["fake timers that leave the clock alone", ["setTimeout", "clearTimeout", "Date"]],
    ["a clock that stands still", ["performance"]],
  ] as const)("a pause ends with %s", async (_, toFake) => {
    vi.useRealTimers();
    vi.useFakeTimers({ toFake: [...toFake] });
    const service = scriptedFetch(repeatingLast(tooMany(0.1), good));
    const client = service.client({ timeoutMs: false });
    const calls = Promise.all([get(client, 0), get(client, 1)]);
    if (toFake[0] === "setTimeout") await pass(200);
    expect(await calls).toHaveLength(2);
    expect(service.sent).toHaveLength(3);
  });
});

describe("order", () => {
  test("first come, first served; a call that gets a 429 keeps its place", async () => {
    const service = scriptedFetch((sent) => after(10, sent.index % 7 === 3 ? tooMany(1) : good)(sent));
    const settled = await allEnded(herd(service.client({ maxConcurrency: 1 }), 30));
    expect(kinds(settled).filter(Boolean)).toEqual([]);
    const order = numbers(service);
    expect([...new Set(order)]).toEqual(Array.from({ length: 30 }, (_, number) => number));
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });

  test("backoff after a 5xx or a network failure pauses no other call", async () => {
    const service = scriptedFetch((sent) => {
      if (sent.index === 0) return responds(503, { "retry-after": "20" })(sent);
      if (sent.index === 1) throw fetchFailed("ECONNRESET");
      return good(sent);
    });
    const settled = await allEnded(herd(service.client({ maxConcurrency: 1 }), 10));
    expect(settled[0]?.tookMs).toBeGreaterThanOrEqual(20_000);
    for (const { tookMs } of settled.slice(2)) expect(tookMs).toBeLessThan(50);
  });

  test("single calls are sent beside an endless walk", async () => {
    let page = 0;
    const service = scriptedFetch((sent) => {
      if (!sent.url.includes("/projects")) return after(20, good)(sent);
      page += 1;
      return after(20, () =>
        status(200, {}, JSON.stringify({ data: [{ id: "p", name: "p" }], next_cursor: `c${page}` })),
      )(sent);
    });
    const client = service.client({ maxConcurrency: 2 });
    const walks = Array.from({ length: 6 }, async () => {
      for await (const _ of client.projects.list()) if (page > 200) break;
    });
    const done = watch(walks);
    await pass(500);
    const { tookMs } = await ended(get(client, 1));
    expect(tookMs).toBeLessThanOrEqual(4 * 22);
    await finish(done);
  });
});
