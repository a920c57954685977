import { expect, test, vi } from "vitest";
import { Client, type ClientOptions } from "../../src/index.ts";
import { json } from "../support/replies.ts";

const CALLS = 50;

test("ids of calls are unique in the process, over clients and over copies of the package", async () => {
  vi.resetModules();
  const copy = await import("../../src/index.ts");
  expect(copy.Client).not.toBe(Client);
  const ids: string[] = [];
  const options: ClientOptions = {
    baseUrl: "https://service.example.com/api/v1",
    token: "t",
    fetch: async () => json({ id: "s", state: "on" }),
    onEvent: ({ type, callId }) => void (type === "request" && ids.push(callId)),
  };
  const first = new Client(options);
  const clients = [first, first.withOptions({ timeoutMs: 1_000 }), new Client(options), new copy.Client(options)];
  await Promise.all(clients.flatMap((client) => Array.from({ length: CALLS }, () => client.sessions.get("s"))));
  expect(ids).toHaveLength(clients.length * CALLS);
  expect(new Set(ids).size).toBe(ids.length);
});

test("all events of a call, its hooks and its log lines have the same id", async () => {
  const ids = new Set<unknown>();
  const answers = [json({}, 503), json({ id: "s", state: "on" })];
  const line = (_: string, { callId }: { callId?: unknown }): void => void ids.add(callId);
  const client = new Client({
    baseUrl: "https://service.example.com/api/v1",
    token: "t",
    retry: { minDelayMs: 0 },
    fetch: async () => answers.shift() ?? json({}, 500),
    onEvent: ({ callId }) => void ids.add(callId),
    logger: { debug: line, info: line, warn: line, error: line },
    logLevel: "debug",
  });
  await client.sessions.get("s", { onRequest: ({ callId }) => void ids.add(callId) });
  expect([...ids]).toEqual([expect.stringMatching(/^call_\w+_\d+$/)]);
});
