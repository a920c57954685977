import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AbortError, Client, type Session, type WatchOptions } from "../../../../src/client/index.ts";
import { createEmulator } from "../../../../src/testing/index.ts";

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

test.each<[string, unknown]>([
  ["an error", new RangeError("no such state")],
  ["a frozen error of this package", Object.freeze(new AbortError("mine"))],
  ["a promise that stays pending", new Promise(() => {})],
])("rejects with what `until` throws, as it is: %s", async (_, thrown) => {
  const { client } = service();
  const waiting = client.sessions.waitFor("ses_1", {
    until: async () => {
      throw thrown;
    },
  });
  let reason: unknown;
  waiting.catch((thrown: unknown) => (reason = thrown));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(reason).toBe(thrown);
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

const waits = ["waitFor", "watch"] as const;

/** What a wait for a state that never comes rejects with. */
async function endOf(client: Client, method: (typeof waits)[number], options: WatchOptions): Promise<unknown> {
  if (method === "waitFor") return settled(client.sessions.waitFor("ses_1", { ...options, until: () => false }));
  const watching = async (): Promise<void> => {
    for await (const _ of client.sessions.watch("ses_1", options));
  };
  return settled(watching());
}

test.each(waits)("%s: a limit that ran out is named with its value and the last state", async (method) => {
  const { client } = service();
  const ended = endOf(client, method, { totalTimeoutMs: 5_000 });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await ended).toMatchObject({
    name: "TimeoutError",
    message: `sessions.${method}: totalTimeoutMs (5000) ran out during the wait; the last state was "running"`,
  });
  expect(vi.getTimerCount()).toBe(0);
});

test.each(waits)("%s: an abort says that it happened during the wait", async (method) => {
  const { client } = service();
  const controller = new AbortController();
  const ended = endOf(client, method, { signal: controller.signal });
  await vi.advanceTimersByTimeAsync(5_000);
  const reason = new DOMException("The operation was aborted due to timeout", "TimeoutError"); // as of AbortSignal.timeout
  controller.abort(reason);
  expect(await ended).toMatchObject({
    name: "AbortError",
    message: `sessions.${method}: aborted by the caller during the wait; the last state was "running"`,
    cause: reason,
    session: { state: "running" },
  });
});

test.each(waits)("%s: the last state is shown as one line without secrets, whatever it is", async (method) => {
  for (const { state, shown } of [
    { state: (token: string) => `on\nwith ${token}`, shown: '"on with [redacted]"' },
    { state: () => 7, shown: '"7"' },
  ]) {
    const { client, emulator } = service();
    const lenient = client.withOptions({ validation: "lenient" });
    emulator.fault({
      operation: "sessions.get",
      status: 200,
      times: Infinity,
      body: { id: "ses_1", state: state(emulator.token) },
    });
    const ended = endOf(lenient, method, { totalTimeoutMs: 5_000 });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await ended).toMatchObject({ message: expect.stringContaining(`the last state was ${shown}`) });
  }
});
