/** A model that repeats itself makes no duplicate. */
import { Client } from "project-automation";
import { createEmulator, type Emulator } from "project-automation/testing";
import { afterEach, describe, expect, test, vi } from "vitest";
import { connect, type Host } from "./hosts.ts";

const ISSUE = { project: "web", title: "It broke", type: "bug" };

const hosts: Host[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const host of hosts.splice(0)) await host.close();
});

async function hostOf(client: Client): Promise<Host> {
  const host = await connect(client);
  hosts.push(host);
  return host;
}

function clientOf(emulator: Emulator): Client {
  return new Client({ ...emulator.clientOptions, retry: { minDelayMs: 1 } });
}

const created = (emulator: Emulator): number =>
  emulator.requests.filter(({ operation, status }) => operation === "issues.create" && status === 201).length;

test("the same issue is returned, and nothing is sent", async () => {
  const emulator = createEmulator();
  const host = await hostOf(clientOf(emulator));
  const before = Date.now();
  const first = await host.call("create_issue", ISSUE);
  const second = await host.call("create_issue", ISSUE);
  const { status, ...lasting } = first.structured ?? {};
  expect(status).toBe("open");
  const since = String(second.structured?.["created_at"]);
  // The status is that of long ago, so it is left out.
  expect(second.structured).toEqual({ ...lasting, repeated: true, created_at: since });
  expect(Date.parse(since)).toBeGreaterThanOrEqual(before);
  expect(second.text).toContain(`From memory: an earlier call created this issue at ${since}`);
  expect(created(emulator)).toBe(1);
});

test.each([{ project: "api" }, { title: "It broke " }, { type: "task" }])(
  "%j makes another issue of it",
  async (change) => {
    const emulator = createEmulator();
    const host = await hostOf(clientOf(emulator));
    await host.call("create_issue", ISSUE);
    expect((await host.call("create_issue", { ...ISSUE, ...change })).structured).toMatchObject({ repeated: false });
    expect(created(emulator)).toBe(2);
  },
);

test("another spelling of the project makes another issue of it", async () => {
  const emulator = createEmulator();
  const host = await hostOf(clientOf(emulator));
  await host.call("create_issue", ISSUE);
  const project = emulator.projects.list()[0]?.id;
  expect((await host.call("create_issue", { ...ISSUE, project })).structured).toMatchObject({ number: 2 });
});

test("another token makes another issue of it", async () => {
  const emulator = createEmulator();
  const client = clientOf(emulator);
  const host = await hostOf(client);
  await host.call("create_issue", ISSUE);
  client.setToken(emulator.createToken({ scopes: ["issues:write"] }).plaintext);
  expect((await host.call("create_issue", ISSUE)).structured).toMatchObject({ number: 2, repeated: false });
  client.setToken(emulator.token);
  expect((await host.call("create_issue", ISSUE)).structured).toMatchObject({ number: 1, repeated: true });
});

test("again: true creates another one", async () => {
  const emulator = createEmulator();
  const host = await hostOf(clientOf(emulator));
  await host.call("create_issue", ISSUE);
  const other = await host.call("create_issue", { ...ISSUE, again: true });
  expect(other.structured).toMatchObject({ number: 2, repeated: false });
  expect((await host.call("create_issue", ISSUE)).structured).toMatchObject({ number: 2, repeated: true });
});

test("again: true that comes to nothing beside the first call leaves what that created", async () => {
  const emulator = createEmulator();
  const host = await hostOf(clientOf(emulator));
  emulator.fault({ operation: "issues.create", delayMs: 1, times: 1 });
  emulator.fault({ operation: "issues.create", delayMs: 50, status: 422, body: { error: "invalid" }, times: 1 });
  const first = host.call("create_issue", ISSUE);
  const again = host.call("create_issue", { ...ISSUE, again: true });
  expect((await first).structured).toMatchObject({ number: 1, repeated: false });
  expect((await again).isError).toBe(true);
  expect((await host.call("create_issue", ISSUE)).structured).toMatchObject({ number: 1, repeated: true });
  expect(created(emulator)).toBe(1);
});

test("servers that are made per request share the memory of their client", async () => {
  const emulator = createEmulator();
  const client = clientOf(emulator);
  await (await hostOf(client)).call("create_issue", ISSUE);
  expect((await (await hostOf(client)).call("create_issue", ISSUE)).structured).toMatchObject({ repeated: true });
  expect((await (await hostOf(clientOf(emulator))).call("create_issue", ISSUE)).structured).toMatchObject({
    repeated: false,
  });
});

test("fifty calls at one moment create one issue", async () => {
  const emulator = createEmulator();
  const host = await hostOf(clientOf(emulator));
  const results = await Promise.all(Array.from({ length: 50 }, () => host.call("create_issue", ISSUE)));
  expect(results.filter(({ structured }) => structured?.["repeated"] === false)).toHaveLength(1);
  expect(new Set(results.map(({ structured }) => structured?.["number"]))).toEqual(new Set([1]));
  expect(created(emulator)).toBe(1);
});

test("a call that waits for one that comes to nothing is sent", async () => {
  const emulator = createEmulator();
  emulator.fault({ operation: "issues.create", status: 422, body: { error: "invalid" }, times: 1 });
  const host = await hostOf(clientOf(emulator));
  const [first, second] = await Promise.all([host.call("create_issue", ISSUE), host.call("create_issue", ISSUE)]);
  expect(first.isError).toBe(true);
  expect(second.structured).toMatchObject({ repeated: false });
  expect(created(emulator)).toBe(1);
});

describe("an issue that may exist", () => {
  test.each([
    ["a lost response", { drop: "after" }],
    ["a failure of the service", { status: 500 }],
    ["a success that cannot be read", { status: 201, body: "<html>" }],
    ["a success of another shape", { status: 201, body: { title: "It broke", status: "open" } }],
  ] as const)("after %s is not created again, but by again: true", async (_, fault) => {
    vi.spyOn(console, "error").mockReturnValue();
    const emulator = createEmulator();
    emulator.fault({ operation: "issues.create", ...fault, times: 1 });
    const host = await hostOf(clientOf(emulator));
    expect((await host.call("create_issue", ISSUE)).isError).toBe(true);
    const sent = emulator.requests.length;
    const repeated = await host.call("create_issue", ISSUE);
    expect(repeated).toMatchObject({ isError: true, structured: undefined });
    expect(repeated.text).toMatch(/from memory, an earlier call .* at 20\d\d-.*Z, may have created this issue/);
    expect(emulator.requests).toHaveLength(sent);
    expect((await host.call("create_issue", { ...ISSUE, again: true })).structured).toMatchObject({ repeated: false });
  });

  test("a success of another shape is accepted, also with lenient validation", async () => {
    const emulator = createEmulator();
    emulator.fault({ operation: "issues.create", status: 201, body: { title: "It broke", status: "open" }, times: 1 });
    const host = await hostOf(clientOf(emulator).withOptions({ validation: "lenient" }));
    const { isError, text } = await host.call("create_issue", ISSUE);
    expect(isError).toBe(true);
    expect(text).toMatch(/number: .*expected.*kind: validation, outcome: accepted/);
    expect(text).toContain("The service has created the issue");
    expect((await host.call("create_issue", ISSUE)).text).toContain("may have created this issue");
    expect(emulator.requests).toHaveLength(1);
  });

  test("stays one if a request of the same call that came later is refused", async () => {
    const emulator = createEmulator();
    emulator.fault({ operation: "issues.create", drop: "after", times: 1 });
    emulator.fault({ operation: "issues.create", status: 422, body: { error: "duplicate" }, times: 1 });
    const client = clientOf(emulator).withOptions({ retry: { unsafeWrites: true, minDelayMs: 1 } });
    const host = await hostOf(client);
    const { text } = await host.call("create_issue", ISSUE);
    expect(text).toContain("status: 422");
    expect(text).toContain("outcome: unknown");
    expect(text).toContain("The issue may exist");
    expect((await host.call("create_issue", ISSUE)).text).toContain("may have created this issue");
    expect(emulator.requests).toHaveLength(2);
  });

  test("after a cancellation is not created again; those that wait for it are told", async () => {
    const emulator = createEmulator();
    emulator.fault({ operation: "issues.create", delayMs: 60_000, times: 1 });
    const host = await hostOf(clientOf(emulator));
    const cancel = new AbortController();
    const first = host.call("create_issue", ISSUE, { signal: cancel.signal });
    const cancelled = expect(first).rejects.toThrow();
    while (emulator.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const second = host.call("create_issue", ISSUE);
    cancel.abort("the user changed their mind");
    await cancelled;
    expect((await second).text).toContain("may have created this issue");
    expect(emulator.requests).toHaveLength(1);
  });
});
