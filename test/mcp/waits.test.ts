/** What a tool does while it waits: progress, the limit of a call, the host's cancellation. Time is faked. */
import { Client, TimeoutError } from "project-automation";
import { createEmulator, type Emulator } from "project-automation/testing";
import { afterEach, expect, test, vi } from "vitest";
import { describeFailure } from "../../src/mcp/failure.ts";
import { fakeTime, pass, settleDown } from "../support/fake-time.ts";
import { connect, type Host } from "./hosts.ts";

fakeTime();

let host: Host | undefined;
afterEach(async () => {
  await host?.close();
  host = undefined;
});

async function open(emulator: Emulator, totalTimeoutMs?: number): Promise<Host> {
  host = await connect(new Client(emulator.clientOptions), { totalTimeoutMs }, "older");
  return host;
}

/** A service whose session stays as it is. */
const running = (): Emulator => createEmulator({ sessionStates: ["running"] });

test("wait_for_session ends with the first state that was asked for", async () => {
  const service = createEmulator({ sessionStates: ["queued", "running", "done"] });
  const connected = await open(service);
  const result = connected.call("wait_for_session", { id: "ses_1", until: ["failed", "done"] });
  await pass(20_000);
  expect((await result).structured).toEqual({ id: "ses_1", state: "done", done: true });
});

test("wait_for_session that runs out of time says the state, and how to go on", async () => {
  const connected = await open(running());
  const result = connected.call("wait_for_session", { id: "ses_1", until: ["done"] });
  await pass(50_000);
  const { isError, structured, text } = await result;
  expect(isError).toBe(false);
  expect(structured).toEqual({ id: "ses_1", state: "running", done: false });
  expect(text).toContain("call wait_for_session again to go on waiting");
});

test("no tool outlasts totalTimeoutMs", async () => {
  const emulator = createEmulator();
  emulator.fault({ delayMs: 3_600_000, times: Number.POSITIVE_INFINITY });
  const connected = await open(emulator, 5_000);
  const calls = [
    connected.call("list_projects"),
    connected.call("list_sessions", { project: "web" }),
    connected.call("get_session", { id: "ses_1" }),
    connected.call("wait_for_session", { id: "ses_1", until: ["done"] }),
    connected.call("create_issue", { project: "web", title: "x", type: "bug" }),
    connected.call("create_issue", { project: "web", title: "x", type: "bug" }),
  ];
  await pass(5_001);
  for (const { isError, text } of await Promise.all(calls)) {
    expect(isError).toBe(true);
    expect(text).toMatch(/kind: timeout|is over|may have created/);
  }
});

test.each([
  ["queue", 0, "before the request was sent"],
  ["queue", 1, "before it was sent again"],
  ["body", 1, "while reading the response"],
  ["total", undefined, "before it was done"],
] as const)("the time of a call ran out in the phase %s, after %s attempts: %s", (phase, attempts, place) => {
  const error = new TimeoutError("late", { phase, attempts });
  const text = describeFailure(error, { name: "get_session", writes: false, scope: "sessions:read" });
  expect(text).toBe(`The time of this call ran out ${place} (kind: timeout). Call the tool again.`);
});

test.each([
  { name: "by one that comes later", atMs: 60_000, tookMs: 1 },
  { name: "by one that waits for it", atMs: 10_000, tookMs: 42_000 },
])("a call that the platform has dropped is given up $name, and may have been applied", async ({ atMs, tookMs }) => {
  const emulator = createEmulator();
  emulator.fault({ operation: "issues.create", delayMs: 3_600_000, times: 1 });
  const connected = await open(emulator);
  const issue = { project: "web", title: "x", type: "bug" };
  connected.call("create_issue", issue).catch(() => {}); // the host is gone, too
  await pass(1_000);
  vi.clearAllTimers(); // so the call never ends, as in a Worker whose request has been answered
  await pass(atMs);
  const second = connected.call("create_issue", issue);
  await pass(tookMs);
  expect((await second).text).toContain("may have created this issue");
  expect(emulator.requests).toHaveLength(1);
  const again = connected.call("create_issue", { ...issue, again: true });
  await pass(1);
  expect((await again).structured).toMatchObject({ repeated: false });
  expect(emulator.requests).toHaveLength(2);
});

test("progress is notified about once a second while a session is polled, with its state", async () => {
  const connected = await open(running(), 10_000);
  const seen: string[] = [];
  const result = connected.call(
    "wait_for_session",
    { id: "ses_1", until: ["done"] },
    { onprogress: ({ progress, message }) => seen.push(`${progress} ${message}`) },
  );
  await pass(10_000);
  await result;
  expect(seen.length).toBeGreaterThanOrEqual(8);
  expect(seen.length).toBeLessThanOrEqual(10);
  expect(seen[0]).toBe('1 the session is "running"');
});

test("progress says how long a rate limit is waited for", async () => {
  const emulator = createEmulator();
  emulator.fault({ operation: "projects.list", status: 429, headers: { "retry-after": "10" }, times: 1 });
  const connected = await open(emulator);
  const seen: (string | undefined)[] = [];
  const result = connected.call("list_projects", {}, { onprogress: ({ message }) => seen.push(message) });
  await pass(12_000);
  expect((await result).isError).toBe(false);
  expect(seen.length).toBeGreaterThanOrEqual(8);
  expect(seen[0]).toMatch(/^waiting for the rate limit of the service: \d+ s left$/);
});

test("without a wait, and without a token for it, nothing is notified", async () => {
  const connected = await open(running(), 5_000);
  const seen: unknown[] = [];
  await connected.call("list_projects", {}, { onprogress: (progress) => seen.push(progress) });
  const result = connected.call("wait_for_session", { id: "ses_1", until: ["done"] });
  await pass(5_000);
  await result;
  expect(seen).toEqual([]);
});

test("the host's cancellation ends a wait at once, and leaves no timer", async () => {
  const emulator = running();
  const connected = await open(emulator);
  const cancel = new AbortController();
  const result = connected.call("wait_for_session", { id: "ses_1", until: ["done"] }, { signal: cancel.signal });
  const rejected = expect(result).rejects.toThrow();
  await pass(3_000);
  const polls = emulator.requests.length;
  cancel.abort();
  await rejected;
  await settleDown();
  await pass(60_000);
  expect(emulator.requests).toHaveLength(polls);
});
