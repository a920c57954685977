import { describe, expect, test } from "vitest";
import { type Client, path } from "../../../src/index.ts";
import { rejection } from "../../support/promises.ts";
import { json, page } from "../../support/replies.ts";
import { openWire } from "../../support/scripted-fetch.ts";

const wire = openWire();

/** Functions that call the client; their names are searched for in stacks. */
const CALLS: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
  async awaitsOneCall(client) {
    return await client.sessions.get("s");
  },
  async awaitsAWrite(client) {
    return await client.issues.create("p", { title: "t", type: "bug" });
  },
  async awaitsADelete(client) {
    return await client.tokens.revoke("t");
  },
  async awaitsARotation(client) {
    return await client.tokens.rotate("t");
  },
  async awaitsAnAdoption(client) {
    return await client.tokens.rotate("t", { adopt: true });
  },
  async awaitsARequest(client) {
    return await client.request({ method: "GET", path: path`/x` });
  },
  async walksItems(client) {
    const seen: unknown[] = [];
    for await (const item of client.projects.list()) seen.push(item);
    return seen;
  },
  async walksAhead(client) {
    const seen: unknown[] = [];
    for await (const item of client.projects.list({}, { prefetch: true })) seen.push(item);
    return seen;
  },
  async walksPages(client) {
    const seen: unknown[] = [];
    for await (const item of client.projects.list().pages()) seen.push(item);
    return seen;
  },
  async takesAnArray(client) {
    return await client.projects.list().toArray();
  },
  async waitsForAll(client) {
    const calls = [client.sessions.get("a"), client.sessions.get("b")];
    try {
      return await Promise.all(calls);
    } finally {
      await Promise.allSettled(calls); // none is left for the next test
    }
  },
  async waitsForASession(client) {
    return await client.sessions.waitFor("s", { until: () => false, totalTimeoutMs: 50 });
  },
  async watchesASession(client) {
    const seen: unknown[] = [];
    for await (const session of client.sessions.watch("s", { totalTimeoutMs: 50 })) seen.push(session);
    return seen;
  },
};

function deeper(name: string, client: Client): Promise<unknown> {
  const call = CALLS[name];
  if (call === undefined) throw new Error(`no call ${name}`);
  return call(client);
}

describe.each(Object.keys(CALLS))("the stack names the caller: %s", (name) => {
  test("of an error response", async () => {
    wire.reply(() => json({ error: "no" }, 404));
    const error = (await rejection(deeper(name, wire.client()))) as Error;
    expect(error.stack).toContain(name);
    expect(error.stack).toContain("stacks.test.ts");
  });

  test("of a response of another shape", async () => {
    wire.reply(() => json(7));
    const call = deeper(name, wire.client());
    if (name === "awaitsADelete" || name === "awaitsARequest") return void (await call);
    expect(((await rejection(call)) as Error).stack).toContain(name);
  });

  test("of a second attempt that fails", async () => {
    wire.reply(() => json({ error: "later" }, 503));
    const error = (await rejection(deeper(name, wire.client({ retry: { attempts: 2, minDelayMs: 0 } })))) as Error;
    expect(error.stack).toContain(name);
  });

  test("of a connection that fails", async () => {
    const fetch: typeof globalThis.fetch = () => Promise.reject(new TypeError("fetch failed"));
    const error = (await rejection(deeper(name, wire.client({ fetch, retry: false })))) as Error;
    expect(error.stack).toContain(name);
  });

  test("of a timeout", async () => {
    const fetch: typeof globalThis.fetch = () => new Promise(() => {});
    const error = (await rejection(deeper(name, wire.client({ fetch, retry: false, timeoutMs: 1 })))) as Error;
    expect(error.stack).toContain(name);
  });

  test("of bad arguments", async () => {
    const call = deeper(name, wire.client({ token: () => "" }));
    expect(((await rejection(call)) as Error).stack).toContain(name);
  });
});

test.each([false, true])("a walk that fails on its second page names its consumer, prefetch %s", async (prefetch) => {
  wire.reply(({ query }) => (query.has("cursor") ? json({}, 404) : page(["a"], "c1")));
  async function consumesTwoPages(): Promise<void> {
    for await (const item of wire.client().projects.list({}, { prefetch })) expect(item.id).toBe("a");
  }
  expect(((await rejection(consumesTwoPages())) as Error).stack).toContain("consumesTwoPages");
});

test("a call that waited in the queue names its own caller, not that of the call before", async () => {
  wire.reply(() => json({}, 404));
  const client = wire.client({ maxConcurrency: 1 });
  async function first(): Promise<unknown> {
    return await client.sessions.get("a");
  }
  async function queuedSecond(): Promise<unknown> {
    return await client.sessions.get("b");
  }
  const [, error] = await Promise.all([rejection(first()), rejection(queuedSecond())]);
  expect((error as Error).stack).toContain("queuedSecond");
});
