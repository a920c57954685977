/** Every fault of `faults.ts`, for each operation and position: the error of the caller and the requests at the server. */
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, buildConnector, fetch } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Client, isAutomationError } from "../../../src/client/index.ts";
import { LIMIT_MS } from "../../support/limits.ts";
import { endless, good } from "../../support/raw-behaviours.ts";
import { CLOSED_PORT, type RawServer, rawServer } from "../../support/raw-server.ts";
import { ATTEMPTS, type Detour, type Fault, faults, RATE_LIMIT_WAITS, TIMEOUT_MS, type Verb } from "./faults.ts";

/** Where connections to an origin go instead. Asked before each of them. */
const detours = new Map<string, () => string | undefined>();
const connectTo = buildConnector({});
const dispatcher = new Agent({
  connect: (options, connected) => {
    const origin = `${options.protocol}//${options.host}`;
    const { protocol, hostname, host, port } = new URL(detours.get(origin)?.() ?? origin);
    connectTo({ ...options, protocol, hostname, host, port }, connected);
  },
});
afterAll(() => dispatcher.close());

/** Time for connecting, parsing and a busy machine. */
const SLACK_MS = 1_000;
/** The client waits no longer than this for the body of an error response. */
const LONGEST_TRY_MS = 1_500;

const operations: readonly {
  readonly verb: Verb;
  readonly name: string;
  readonly call: (client: Client) => Promise<unknown>;
}[] = [
  { verb: "GET", name: "sessions.get", call: (client) => client.sessions.get("ses_1") },
  { verb: "DELETE", name: "tokens.revoke", call: (client) => client.tokens.revoke("tok_1") },
  {
    verb: "POST",
    name: "issues.create",
    call: (client) => client.issues.create("web", { title: "Title", type: "bug" }),
  },
  { verb: "POST", name: "tokens.rotate", call: (client) => client.tokens.rotate("tok_1") },
];

/** Which attempts meet the fault. `warm`: they go over a connection that has served a request before. */
const positions = [
  { position: "every attempt", hits: () => true, warm: false },
  { position: "the first attempt", hits: (attempt: number) => attempt === 0, warm: false },
  { position: "the first attempt, on a reused connection", hits: (attempt: number) => attempt === 0, warm: true },
] as const;

let elsewhere: RawServer;
let untrusted: RawServer;
let plain: RawServer;
beforeAll(async () => {
  elsewhere = await rawServer([good]);
  untrusted = await rawServer([good], { tls: true });
  plain = await rawServer([good], { greeting: "HTTP/1.1 400 Bad Request\r\n\r\n" });
});
afterAll(async () => {
  await elsewhere[Symbol.asyncDispose]();
  await untrusted[Symbol.asyncDispose]();
  await plain[Symbol.asyncDispose]();
});

function originOf(detour: Detour): string {
  if (detour === "a closed port") return `http://127.0.0.1:${CLOSED_PORT}`;
  if (detour === "an unknown host") return "http://nowhere.invalid";
  if (detour === "a bad certificate") return new URL(untrusted.baseUrl).origin;
  return `https://127.0.0.1:${plain.port}`;
}

// Redirects need an address before there is a server: that of `elsewhere`, put in when the request comes.
const PLACEHOLDER = "http://127.0.0.1:1/elsewhere";
const table = faults(PLACEHOLDER);

describe.concurrent.each(table)("$name", (fault) => {
  const where = positions.filter(({ warm }) => !(warm && typeof fault.does === "string"));
  const timesOut = endsByTimeout(fault);
  const longestTryMs = timesOut ? TIMEOUT_MS : LONGEST_TRY_MS;
  const cases = operations.flatMap((operation) => where.map((position) => ({ ...operation, ...position })));

  test.each(cases)("$name, at $position", async ({ verb, call, hits, warm }) => {
    const actual = typeof fault.does === "string" ? fault : resolved(fault, elsewhere.baseUrl);
    const before = warm ? 1 : 0;
    await using server = await rawServer(({ index }) =>
      typeof actual.does !== "string" && index >= before && hits(index - before) ? actual.does : good,
    );
    let attempt = 0;
    const { does } = fault;
    const { origin } = new URL(server.baseUrl);
    detours.set(origin, () => (typeof does === "string" && hits(attempt++) ? originOf(does) : undefined));
    using ends = new DisposableStack();
    // The port may be that of another server then.
    ends.defer(() => detours.delete(origin));
    const client = new Client({
      baseUrl: server.baseUrl,
      token: "emu_K1_secret",
      fetch: (url, init) => fetch(url, { ...init, dispatcher }),
      timeoutMs: timesOut ? TIMEOUT_MS : 30_000,
      retry: { attempts: ATTEMPTS, minDelayMs: 1, rateLimitWaits: RATE_LIMIT_WAITS },
    });
    if (warm) {
      await client.sessions.get("ses_1");
      await sleep(10); // the platform returns the connection to its pool a moment after the response
    }

    const startedAt = performance.now();
    const [settled] = await Promise.allSettled([call(client)]);
    const took = performance.now() - startedAt;

    const expected = fault.expected[verb];
    const recovers = expected === "success" || (expected.tries > 1 && !hits(1));
    const tries = expected === "success" ? 1 : hits(1) ? expected.tries : Math.min(2, expected.tries);
    const unseen = typeof fault.does !== "string" ? 0 : hits(1) ? tries : 1;
    expect(server.requests.length - before, "requests that the server saw").toBe(tries - unseen);
    if (warm) expect(server.requests[1]?.connection, "the connection is reused").toBe(server.requests[0]?.connection);
    if (recovers) {
      expect(settled).toMatchObject({ status: "fulfilled" });
    } else if (settled.status === "rejected") {
      const error: unknown = settled.reason;
      if (!isAutomationError(error)) throw error;
      expect([expected.kind].flat()).toContain(error.kind);
      expect([error.outcome, error.attempts]).toEqual([expected.outcome, tries]);
      if (fault.platformCode && error.kind === "connection") expect(error.platformCode).toMatch(fault.platformCode);
    } else {
      expect.fail("the call resolved");
    }
    expect(took, "milliseconds").toBeLessThan(tries * longestTryMs + SLACK_MS);
    expect(await owesNothing(server), "connections with an incomplete response are closed").toBe(true);
    expect(elsewhere.connections).toHaveLength(0);
    expect(untrusted.requests).toHaveLength(0);
  });
});

test("an endless 429 does not delay the retry", async () => {
  await using server = await rawServer([endless(429, ["Retry-After", "1"]), good]);
  const client = new Client({ baseUrl: server.baseUrl, token: "emu_K1_secret" });
  const startedAt = performance.now();
  await client.sessions.get("1");
  expect(performance.now() - startedAt).toBeLessThan(1_200);
  expect(await owesNothing(server)).toBe(true);
});

/** Whether every connection with an incomplete response is closed in time. */
async function owesNothing(server: RawServer): Promise<boolean> {
  const deadline = performance.now() + LIMIT_MS;
  while (server.owing.length > 0 && performance.now() < deadline) await sleep(2);
  return server.owing.length === 0;
}

/** Whether the timeout is expected to end the call; only then is it short enough for a slow machine to reach it. */
function endsByTimeout({ expected }: Fault): boolean {
  return Object.values(expected).some(
    (row: Fault["expected"]["GET"]) => row !== "success" && row.kind.includes("timeout"),
  );
}

function resolved(fault: Fault, target: string): Fault {
  return faults(target).find(({ name }) => name === fault.name) ?? fault;
}
