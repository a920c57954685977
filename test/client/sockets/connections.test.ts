/** Connections as the service sees them: aborts close them, keep-alive reuses them, and none is leaked. */
import { describe, expect, test } from "vitest";
import { Client, type ClientOptions, ConnectionError } from "../../../src/client/index.ts";
import { createIssue } from "../../support/calls.ts";
import { endless, good, goodHead, halfBody, respond, send, sequence, silence } from "../../support/raw-behaviours.ts";
import { type Behaviour, type RawServer, rawServer } from "../../support/raw-server.ts";
import { turns } from "../../support/turns.ts";

const clientOf = (server: RawServer, options: ClientOptions = {}): Client =>
  new Client({
    baseUrl: server.baseUrl,
    token: "emu_K1_secret",
    timeoutMs: false,
    retry: { minDelayMs: 1 },
    ...options,
  });
/** Whether the connections that had requests are closed: Node's fetch may open and keep another one after an abort. */
const closed = (server: RawServer): boolean =>
  server.requests.every(({ connection }) => server.connections[connection]?.isClosed);

describe("abort", () => {
  const moments: readonly [string, Behaviour, string][] = [
    ["before headers", silence, "unknown"],
    ["within headers", send("HTTP/1.1 200 OK\r\nA: b\r\n"), "unknown"],
    ["before the body", goodHead(9), "unknown"],
    ["within the body", sequence(goodHead(9), halfBody), "accepted"],
    ["within an endless body that is no JSON", endless(200), "unknown"],
    ["within an endless 404", endless(404), "unknown"],
    ["within an endless 500", endless(500), "unknown"],
  ];
  test.each(moments)("%s: the call rejects at once, and the service sees the close", async (_, behaviour, outcome) => {
    await using server = await rawServer([behaviour]);
    const controller = new AbortController();
    const call = createIssue(clientOf(server), { signal: controller.signal }).catch((error: unknown) => error);
    await expect.poll(() => server.requests.length).toBe(1);
    await turns(30); // so that what was sent has arrived
    controller.abort();
    const error = await Promise.race([call, turns(3).then(() => "timers went off first")]);
    expect(error).toMatchObject({ kind: "abort", outcome, attempts: 1 });
    await expect.poll(() => closed(server)).toBe(true);
    expect(server.requests).toHaveLength(1);
  });
});

describe("a connection that the service closes just before it is reused", () => {
  test("POST: success or an error of unknown outcome, and never sent twice", async () => {
    await using server = await rawServer([good]);
    const client = clientOf(server);
    let [served, failed] = [0, 0];
    for (let round = 0; round < 10; round += 1) {
      await client.sessions.get("1");
      await turns(5);
      server.resetAll();
      const before = server.requests.length;
      const error: unknown = await createIssue(client).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (error !== undefined && !(error instanceof ConnectionError)) throw error;
      if (error !== undefined) expect(error).toMatchObject({ outcome: "unknown", attempts: 1 });
      served += server.requests.length - before;
      failed += error === undefined ? 0 : 1;
    }
    expect(served + failed).toBe(10);
  });
});

describe("keep-alive", () => {
  test("1000 error responses of 100 KB that are not read to the end: few connections are open at any time", async () => {
    const body = JSON.stringify({ error: "too_many_requests", padding: "x".repeat(100_000) });
    await using server = await rawServer([respond({ status: 429, headers: [["Retry-After", "0"]], body })]);
    const client = clientOf(server, { retry: false, maxConcurrency: 10 });
    let most = 0;
    for (let round = 0; round < 100; round += 1) {
      const settled = await Promise.allSettled(Array.from({ length: 10 }, () => client.sessions.get("1")));
      for (const one of settled) expect(one.status).toBe("rejected");
      most = Math.max(most, server.connections.filter(({ isClosed }) => !isClosed).length);
    }
    expect(most).toBeLessThanOrEqual(20);
  });
});

test("the requests of a call are equal, except for the credential", async () => {
  await using server = await rawServer([
    respond({ status: 429, headers: [["Retry-After", "0"]] }),
    respond({ status: 401 }),
    good,
  ]);
  let asked = 0;
  const token = (): string => {
    asked += 1;
    return `t${asked}`;
  };
  await createIssue(clientOf(server, { token }));
  expect(server.requests.map(({ headers }) => headers["authorization"])).toEqual([
    "Bearer t1",
    "Bearer t2",
    "Bearer t3",
  ]);
  const [first, ...others] = server.requests.map(({ method, target, body, headers }) => {
    const { authorization: _, ...rest } = headers;
    return { method, target, body, rest };
  });
  for (const other of others) expect(other).toEqual(first);
  expect(first?.rest).not.toHaveProperty("idempotency-key");
  expect(first?.rest).not.toHaveProperty("cookie");
});
