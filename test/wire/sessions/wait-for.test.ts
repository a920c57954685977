import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AbortError, Client, type Session, TimeoutError } from "../../../src/index.ts";
import { createEmulator } from "../../../src/testing/index.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function service() {
  const emulator = createEmulator({ projects: [{ name: "web", sessions: [{ id: "ses_1", state: "running" }] }] });
  const client = new Client({ baseUrl: emulator.baseUrl, token: emulator.token, fetch: emulator.fetch });
  return { emulator, client, polls: () => emulator.requests.map(({ at }) => at) };
}

const settled = <Result>(promise: Promise<Result>): Promise<unknown> => promise.catch((error: unknown) => error);

test("waits between polls no less than three quarters of an interval that grows to its longest", async () => {
  const { client, emulator, polls } = service();
  const waiting = client.sessions.waitFor("ses_1", { until: ({ state }) => state === "done", maxIntervalMs: 3_000 });
  await vi.advanceTimersByTimeAsync(20_000);
  emulator.sessions.update("ses_1", { state: "done" });
  await vi.advanceTimersByTimeAsync(4_000);
  expect(await waiting).toEqual({ id: "ses_1", state: "done" });
  const gaps = polls()
    .slice(1)
    .map((at, index) => at - (polls()[index] ?? 0));
  const longest = [1_000, 1_500, 2_250, 3_000];
  for (const [index, gap] of gaps.entries()) {
    const nominal = longest[index] ?? 3_000;
    expect(gap).toBeGreaterThanOrEqual(nominal * 0.75);
    expect(gap).toBeLessThanOrEqual(nominal + 2);
  }
  expect(vi.getTimerCount()).toBe(0);
});

test("reports the last session if its totalTimeoutMs runs out", async () => {
  const { client } = service();
  const waiting = settled(client.sessions.waitFor("ses_1", { until: () => false, totalTimeoutMs: 5_000 }));
  await vi.advanceTimersByTimeAsync(5_100);
  const error = await waiting;
  expect(error).toBeInstanceOf(TimeoutError);
  expect(error).toMatchObject({ phase: "total", session: { id: "ses_1", state: "running" } });
  expect(vi.getTimerCount()).toBe(0);
});

test("ends a wait whose `until` never settles", async () => {
  const { client } = service();
  const hangs = (): Promise<boolean> => new Promise(() => {});
  const waiting = settled(client.sessions.waitFor("ses_1", { until: hangs, totalTimeoutMs: 5_000 }));
  await vi.advanceTimersByTimeAsync(5_100);
  expect(await waiting).toMatchObject({ kind: "timeout", phase: "total", session: { state: "running" } });

  const controller = new AbortController();
  const aborted = settled(client.sessions.waitFor("ses_1", { until: hangs, signal: controller.signal }));
  await vi.advanceTimersByTimeAsync(10);
  controller.abort("enough");
  expect(await aborted).toMatchObject({ kind: "abort", cause: "enough" });
  expect(vi.getTimerCount()).toBe(0);
});

test("rejects with what `until` throws, as it is", async () => {
  const { client } = service();
  const thrown = new RangeError("no such state");
  const waiting = client.sessions.waitFor("ses_1", {
    until: async () => {
      throw thrown;
    },
  });
  expect(await settled(waiting)).toBe(thrown);
});

test("ends at once when it is aborted between polls", async () => {
  const { client, polls } = service();
  const controller = new AbortController();
  const waiting = settled(client.sessions.waitFor("ses_1", { until: () => false, signal: controller.signal }));
  await vi.advanceTimersByTimeAsync(100);
  controller.abort();
  expect(await waiting).toBeInstanceOf(AbortError);
  expect(polls()).toHaveLength(1);
  expect(vi.getTimerCount()).toBe(0);
});

test("waits for the rate limit in the middle, and goes on", async () => {
  const { client, emulator } = service();
  emulator.fault({ operation: "sessions.get", skip: 1, times: 1, status: 429, headers: { "retry-after": "30" } });
  const waiting = client.sessions.waitFor("ses_1", { until: ({ state }) => state === "done" });
  await vi.advanceTimersByTimeAsync(2_000);
  emulator.sessions.update("ses_1", { state: "done" });
  await vi.advanceTimersByTimeAsync(33_000);
  expect(await waiting).toMatchObject({ state: "done" });
  const [, refused, next] = emulator.requests;
  expect((next?.at ?? 0) - (refused?.at ?? 0)).toBeGreaterThanOrEqual(30_000);
});

test("rejects when the session is deleted", async () => {
  const { client, emulator } = service();
  const waiting = settled(client.sessions.waitFor("ses_1", { until: () => false }));
  await vi.advanceTimersByTimeAsync(100);
  emulator.sessions.delete("ses_1");
  await vi.advanceTimersByTimeAsync(1_100);
  expect(await waiting).toMatchObject({ kind: "not_found" });
});

test("watch yields the first state and then each change, until the loop ends", async () => {
  const { client, emulator } = service();
  const seen: string[] = [];
  const watching = (async () => {
    for await (const session of client.sessions.watch("ses_1")) {
      seen.push((session satisfies Session).state);
      if (session.state === "done") break;
    }
  })();
  await vi.advanceTimersByTimeAsync(30_000);
  expect(seen).toEqual(["running"]);
  emulator.sessions.update("ses_1", { state: "paused" });
  await vi.advanceTimersByTimeAsync(16_000);
  emulator.sessions.update("ses_1", { state: "done" });
  await vi.advanceTimersByTimeAsync(16_000);
  await watching;
  expect(seen).toEqual(["running", "paused", "done"]);
  expect(vi.getTimerCount()).toBe(0);
});
