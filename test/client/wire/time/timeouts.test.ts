/** Time limits, clocks and timers. */
import { getEventListeners } from "node:events";
import { describe, expect, test, vi } from "vitest";
import type { CallOptions, ClientOptions } from "../../../../src/client/index.ts";
import { allEnded, ended, fakeTime, finish, pass, standStill, watch } from "../../../support/fake-time.ts";
import { after, bodyThat, good, never, responds, status, tooMany } from "../../../support/replies.ts";
import { repeatingLast, scriptedFetch } from "../../../support/scripted-fetch.ts";

fakeTime();

test("a call whose time is over before its request leaves tells of no request", async () => {
  const service = scriptedFetch(good);
  const events: string[] = [];
  const client = service.client({ totalTimeoutMs: 1_000, onEvent: ({ type }) => events.push(type) });
  const { error } = await ended(client.sessions.get("1", { onRequest: () => standStill(2_000) }));
  expect(error).toMatchObject({ kind: "timeout", phase: "queue", attempts: 0, outcome: "not_sent" });
  expect([events, service.sent]).toEqual([["end"], []]);
});

describe("timeoutMs", () => {
  test("of headers: phase headers, after just that long, and the request is ended", async () => {
    const service = scriptedFetch(never);
    const { error, tookMs } = await ended(service.client({ timeoutMs: 1_000, retry: false }).sessions.get("1"));
    expect(error).toMatchObject({ kind: "timeout", phase: "headers", attempts: 1 });
    expect(tookMs).toBe(1_000);
    expect(service.open).toBe(0);
  });

  test("covers the body: one budget, not one each", async () => {
    const service = scriptedFetch(after(700, bodyThat("stalls")));
    const { error, tookMs } = await ended(service.client({ timeoutMs: 1_000, retry: false }).sessions.get("1"));
    expect(error).toMatchObject({ kind: "timeout", phase: "body", status: 200, outcome: "accepted" });
    expect(tookMs).toBe(1_000);
    expect(service.sent[0]?.signal.aborted).toBe(true);
  });

  test("includes the token provider", async () => {
    const token = async (): Promise<string> => {
      await new Promise((resolve) => setTimeout(resolve, 600));
      return "provided";
    };
    const service = scriptedFetch(never);
    const { error, tookMs } = await ended(service.client({ token, timeoutMs: 1_000, retry: false }).sessions.get("1"));
    expect(error).toMatchObject({ kind: "timeout", phase: "headers" });
    expect(tookMs).toBe(1_000);
  });

  test("is that of the call, and a stalled body of an error response is not a timeout", async () => {
    const stalling = scriptedFetch(async (sent) => {
      const { body } = await bodyThat("stalls", "{", 200)(sent);
      return new Response(body, { status: 400 });
    });
    const { error, tookMs } = await ended(stalling.client({ timeoutMs: 300 }).sessions.get("1"));
    expect(error).toMatchObject({ kind: "bad_request", status: 400 });
    expect(error).not.toHaveProperty("body");
    expect(tookMs).toBeLessThanOrEqual(302);
  });

  const long: readonly (number | false)[] = [false, 2 ** 31, Number.MAX_VALUE];
  test.each(long.flatMap((value) => [{ timeoutMs: value }, { totalTimeoutMs: value }] satisfies ClientOptions[]))(
    "%o never fires early",
    async (options) => {
      const month = 31 * 24 * 3_600_000;
      const service = scriptedFetch(after(20 * 24 * 3_600_000, good));
      const { error, tookMs } = await ended(
        service.client({ timeoutMs: false, ...options, retry: false }).sessions.get("1"),
      );
      expect(error).toBeUndefined();
      expect(tookMs).toBeLessThan(month);
    },
  );

  test("2^31 + 5 ms ends then, to the millisecond", async () => {
    const service = scriptedFetch(never);
    const timeoutMs = 2 ** 31 + 5;
    const { error, tookMs } = await ended(service.client({ timeoutMs, retry: false }).sessions.get("1"));
    expect(error).toMatchObject({ kind: "timeout", phase: "headers" });
    expect(tookMs - timeoutMs).toBe(0);
  });
});

describe("totalTimeoutMs", () => {
  test("ends the last attempt early, and reports the failure before it", async () => {
    const service = scriptedFetch(responds(500), never);
    const client = service.client({ timeoutMs: 10_000, totalTimeoutMs: 3_000 });
    const { error, tookMs } = await ended(client.sessions.get("1"));
    expect(error).toMatchObject({
      kind: "timeout",
      phase: "headers",
      attempts: 2,
      cause: { kind: "server", status: 500 },
    });
    expect(tookMs).toBe(3_000);
  });

  test.each([
    [401, "auth"],
    [429, "rate_limit"],
  ] as const)("that is over while the body of a %i stalls: the call ends with that", async (code, kind) => {
    const service = scriptedFetch(bodyThat("stalls", "{", code));
    const { error, tookMs } = await ended(service.client({ totalTimeoutMs: 200 }).sessions.get("1"));
    expect(error).toMatchObject({ kind, status: code, attempts: 1 });
    expect(tookMs).toBe(200);
  });

  test("ends a backoff: phase total", async () => {
    const service = scriptedFetch(responds(500));
    const client = service.client({ totalTimeoutMs: 1_000, retry: { minDelayMs: 5_000 } });
    const { error, tookMs } = await ended(client.sessions.get("1"));
    expect(error).toMatchObject({ kind: "timeout", phase: "total", attempts: 1, cause: { status: 500 } });
    expect(tookMs).toBe(1_000);
  });

  test("counts queueing and the provider", async () => {
    const service = scriptedFetch(after(800, good), never);
    const client = service.client({ maxConcurrency: 1, timeoutMs: 5_000, retry: false });
    const settled = await allEnded([client.sessions.get("1"), client.sessions.get("2", { totalTimeoutMs: 1_000 })]);
    expect(settled[1]?.error).toMatchObject({ kind: "timeout", phase: "headers" });
    expect(settled[1]?.tookMs).toBe(1_000);
  });

  test("is distinct from the caller's own timeout signal", async () => {
    const controller = new AbortController();
    const service = scriptedFetch(never);
    const call = watch([service.client({ totalTimeoutMs: 5_000 }).sessions.get("1", { signal: controller.signal })]);
    await pass(100);
    controller.abort(new DOMException("mine", "TimeoutError"));
    const [settled] = await finish(call);
    expect(settled?.error).toMatchObject({ kind: "abort", name: "AbortError", cause: { message: "mine" } });
  });
});

describe("clocks", () => {
  const jumps = [-3_600_000, 3_600_000];
  test.each(jumps)("a wait is as long as it is when the wall clock jumps by %i ms", async (jump) => {
    const service = scriptedFetch(repeatingLast(tooMany(10), good));
    const client = service.client({ totalTimeoutMs: 60_000 });
    const first = watch([client.sessions.get("1")]);
    await pass(5_000);
    const realNow = Date.now;
    vi.spyOn(Date, "now").mockImplementation(() => realNow() + jump);
    const second = watch([client.sessions.get("2")]); // finds the gate closed
    await pass(4_900);
    expect(service.sent).toHaveLength(1);
    await pass(1_700);
    expect(service.sent).toHaveLength(3);
    for (const { error } of [...(await finish(first)), ...(await finish(second))]) expect(error).toBeUndefined();
  });

  test.each(jumps)("a timeout is not moved by a jump of %i ms", async (jump) => {
    const service = scriptedFetch(never);
    const call = watch([service.client({ timeoutMs: 2_000, retry: false }).sessions.get("1")]);
    await pass(1_000);
    const realNow = Date.now;
    vi.spyOn(Date, "now").mockImplementation(() => realNow() + jump);
    await pass(990);
    expect(service.open).toBe(1);
    await pass(15);
    expect((await finish(call))[0]?.error).toMatchObject({ kind: "timeout" });
  });

  test("50 attempts: every wait is finite and none is above the cap", async () => {
    const service = scriptedFetch(responds(500));
    const { error } = await ended(service.client({ retry: { attempts: 50 } }).sessions.get("1"));
    expect(error).toMatchObject({ attempts: 50 });
    const gaps = service.sent.slice(1).map(({ at }, nth) => at - (service.sent[nth]?.at ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(8_002);
    for (const gap of gaps.slice(5)) expect(gap).toBeGreaterThanOrEqual(4_000);
    expect(Math.max(...gaps.slice(5)) - Math.min(...gaps.slice(5)), "spread").toBeGreaterThan(100);
  });
});

describe("nothing is left", () => {
  const endings: readonly [string, ReturnType<typeof scriptedFetch>, CallOptions][] = [
    ["success", scriptedFetch(good), {}],
    ["a refusal", scriptedFetch(responds(404)), {}],
    ["failures", scriptedFetch(responds(500)), {}],
    ["a timeout", scriptedFetch(never), { timeoutMs: 50 }],
    ["a pause that is too long", scriptedFetch(tooMany(500)), {}],
    ["a pause", scriptedFetch(tooMany(2), good), {}],
    ["a stalled refusal", scriptedFetch(() => new Response(new ReadableStream(), { status: 500 })), { timeoutMs: 50 }],
    ["a failed schema", scriptedFetch(() => status(200, {}, "{}")), {}],
  ];
  test.each(endings)("no timer and no listener after %s", async (_, service, options) => {
    const { signal } = new AbortController();
    await ended(
      service
        .client({ totalTimeoutMs: 60_000 })
        .sessions.get("1", { ...options, signal })
        .catch(() => undefined),
    );
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(signal, "abort")).toEqual([]);
    expect(service.open).toBe(0);
  });

  test("no timer while the client is idle with a closed gate", async () => {
    const service = scriptedFetch(tooMany(500), good);
    const client = service.client();
    await ended(client.sessions.get("1"));
    expect(client.rateLimit?.pausedUntil).toBeInstanceOf(Date);
    expect(vi.getTimerCount()).toBe(0);
  });
});
