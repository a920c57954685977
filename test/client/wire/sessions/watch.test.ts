import { getEventListeners } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AbortError, Client, type Session } from "../../../../src/client/index.ts";
import { createEmulator, type Emulator } from "../../../../src/testing/index.ts";
import { rejection } from "../../../support/promises.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function service(): { emulator: Emulator; client: Client } {
  const emulator = createEmulator({ projects: [{ name: "web", sessions: [{ id: "s", state: "a" }] }] });
  return { emulator, client: new Client({ baseUrl: emulator.baseUrl, token: emulator.token, fetch: emulator.fetch }) };
}

test("watch sends nothing before it is iterated, and each iteration is a watch of its own", async () => {
  const { client, emulator } = service();
  const watch = client.sessions.watch("s");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(emulator.requests).toHaveLength(0);
  const [one, two] = [watch[Symbol.asyncIterator](), watch[Symbol.asyncIterator]()];
  expect((await one.next()).value).toMatchObject({ state: "a" });
  expect((await two.next()).value).toMatchObject({ state: "a" });
  expect(emulator.requests).toHaveLength(2);
  await one.return?.();
  await two.return?.();
});

test("a change starts the waits over from the shortest", async () => {
  const { client, emulator } = service();
  const states: string[] = [];
  const controller = new AbortController();
  const options = { intervalMs: 100, maxIntervalMs: 10_000, signal: controller.signal };
  const watching = rejection(
    (async () => {
      for await (const { state } of client.sessions.watch("s", options)) states.push(state);
    })(),
  );
  await vi.advanceTimersByTimeAsync(60_000); // by now it waits for ten seconds at a time
  emulator.sessions.update("s", { state: "b" });
  while (states.length < 2) await vi.advanceTimersByTimeAsync(100);
  const before = emulator.requests.length;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(emulator.requests.length - before).toBeGreaterThanOrEqual(3);
  expect(states).toEqual(["a", "b"]);
  controller.abort("enough");
  expect(await watching).toMatchObject({ kind: "abort", cause: "enough" });
});

test("an abort between polls ends a watch at once, and leaves no timer and no listener", async () => {
  const { client, emulator } = service();
  const controller = new AbortController();
  const iterator = client.sessions.watch("s", { signal: controller.signal })[Symbol.asyncIterator]();
  await iterator.next();
  const pending = rejection(iterator.next());
  await vi.advanceTimersByTimeAsync(100);
  controller.abort();
  expect(await pending).toBeInstanceOf(AbortError);
  expect((await iterator.next()).done).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
  expect(emulator.requests).toHaveLength(1);
});

test("no timer is set and the signal is not listened to while the consumer looks at a session", async () => {
  const { client } = service();
  const { signal } = new AbortController();
  const iterator = client.sessions.watch("s", { totalTimeoutMs: 60_000, signal })[Symbol.asyncIterator]();
  await iterator.next();
  expect([vi.getTimerCount(), getEventListeners(signal, "abort").length]).toEqual([0, 0]);
  await vi.advanceTimersByTimeAsync(60_000);
  const late = rejection(iterator.next());
  await vi.advanceTimersByTimeAsync(1);
  expect(await late).toMatchObject({ kind: "timeout", phase: "total" });
});

test("a break leaves no timer behind", async () => {
  const { client } = service();
  for await (const { state } of client.sessions.watch("s")) {
    expect(state).toBe("a");
    break;
  }
  expect(vi.getTimerCount()).toBe(0);
});

test("return() during the wait between two polls ends it without another request", async () => {
  const { client, emulator } = service();
  const iterator = client.sessions.watch("s", { intervalMs: 10_000 })[Symbol.asyncIterator]();
  await iterator.next();
  const pending = iterator.next();
  await vi.advanceTimersByTimeAsync(100);
  const returned = iterator.return?.();
  await vi.advanceTimersByTimeAsync(10);
  expect(vi.getTimerCount()).toBe(0);
  expect(await Promise.all([pending, returned])).toMatchObject([{ done: true }, { done: true }]);
  expect(emulator.requests).toHaveLength(1);
});

test("waitFor resolves with the session that `until` accepted, also asynchronously, and sends nothing more", async () => {
  const { client, emulator } = service();
  const shown: Session[] = [];
  const until = async (...given: Session[]): Promise<boolean> => {
    shown.push(...given);
    return shown.length === 2;
  };
  const waiting = client.sessions.waitFor("s", { until });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await waiting).toBe(shown[1]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(emulator.requests).toHaveLength(2);
});

test.each([null, "text", 3, [], { id: 3 }])(
  "with lenient validation, %j is handed over as it came, and is no change of itself",
  async (body) => {
    const client = new Client({
      baseUrl: "https://service.example.com/api/v1",
      token: "pat_key_0123456789",
      validation: "lenient",
      fetch: async () => Response.json(body),
    });
    const sessions = client.sessions.watch("s", { totalTimeoutMs: 30_000 })[Symbol.asyncIterator]();
    expect((await sessions.next()).value).toEqual(body);
    const ended = rejection(sessions.next());
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await ended).toMatchObject({ kind: "timeout", phase: "total" });
  },
);

test("after a 503 the next poll comes no earlier than it asks for", async () => {
  const { client, emulator } = service();
  emulator.fault({ operation: "sessions.get", status: 503, headers: { "retry-after": "200" }, times: 1 });
  const next = client.sessions.watch("s", { intervalMs: 1_000 })[Symbol.asyncIterator]().next();
  await vi.advanceTimersByTimeAsync(199_000);
  expect(emulator.requests).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1_000);
  expect((await next).value).toMatchObject({ state: "a" });
});
