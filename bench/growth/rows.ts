/** What grows with the work, as data: each row makes a lap of so many items. */

import { setImmediate as turn } from "node:timers/promises";

type Main = typeof import("../../dist/index.js");
type Load = <Module>(entryPoint: string) => Promise<Module>;
type Lap = (count: number) => Promise<unknown>;

export const FEW = 100;
export const MANY = 100_000;
export const REDIS_PORT = 16_399;
/** The row that wants a Redis at that port. */
export const REDIS_ROW = "queued calls, Redis";

const HEADERS = { "content-type": "application/json" };
const SERVICE = { baseUrl: "http://127.0.0.1/api/v1", token: "pat_key_secret" };
const RECORD = '{"id":"1","state":"running"}';
const NEVER = new Promise<Response>(() => {});

const times = <Value>(count: number, make: (at: number) => Value): Value[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** A service that answers after one turn of the event loop, as every real one does. */
const answering = (body: string) => async (): Promise<Response> => {
  await turn();
  return new Response(body, { headers: HEADERS });
};

const calls =
  (options: object = {}) =>
  async (load: Load): Promise<Lap> => {
    const { Client } = await load<Main>(".");
    const client = new Client({ ...SERVICE, fetch: answering(RECORD), ...options });
    return (count) => Promise.all(times(count, (at) => client.sessions.get(String(at))));
  };

/** In the middle, the service refuses a request for a second. */
async function pausedCalls(load: Load): Promise<Lap> {
  const { Client } = await load<Main>(".");
  return async (count) => {
    let answered = 0;
    const answer = answering(RECORD);
    const fetch = async (): Promise<Response> => {
      answered += 1;
      if (answered !== Math.round(count / 2)) return await answer();
      return new Response("{}", { status: 429, headers: { ...HEADERS, "retry-after": "1" } });
    };
    const client = new Client({ ...SERVICE, fetch });
    return await Promise.all(times(count, (at) => client.sessions.get(String(at))));
  };
}

async function redisCalls(load: Load): Promise<Lap> {
  const { redisRateLimiter } = await load<typeof import("../../dist/redis/index.js")>("./redis");
  const { Redis } = await import("ioredis");
  const rateLimiter = redisRateLimiter({ client: new Redis(REDIS_PORT, "127.0.0.1") });
  return await calls({ rateLimiter })(load);
}

/** The place of each of so many, as if they were drawn: the step is prime, and so divides no count of ours. */
const drawn = (count: number): number[] => times(count, (at) => (at * 7_919) % count);

async function abortedCalls(load: Load): Promise<Lap> {
  const { Client } = await load<Main>(".");
  return async (count) => {
    const client = new Client({ ...SERVICE, fetch: () => NEVER, maxConcurrency: 1, timeoutMs: false });
    const waits = times(count, () => new AbortController());
    const ends = waits.map(({ signal }, at) => client.sessions.get(String(at), { signal }).catch(() => {}));
    await turn();
    for (const at of drawn(count)) waits[at]?.abort();
    await Promise.all(ends);
  };
}

/** A call with each token is refused, and waits; then all are cancelled. */
async function pausedTokens(load: Load): Promise<Lap> {
  const { Client, memoryRateLimiter } = await load<Main>(".");
  return async (count) => {
    const rateLimiter = memoryRateLimiter();
    let refused = 0;
    const stop = new AbortController();
    const fetch = async (): Promise<Response> => {
      refused += 1;
      return new Response("{}", { status: 429, headers: { ...HEADERS, "retry-after": "60" } });
    };
    const options = { ...SERVICE, fetch, rateLimiter };
    const ends = times(count, (at) => {
      const client = new Client({ ...options, token: `pat_key${at}_secret` });
      return client.sessions.get(String(at), { signal: stop.signal }).catch(() => {});
    });
    while (refused < count) await turn();
    stop.abort();
    await Promise.all(ends);
  };
}

async function walk(load: Load): Promise<Lap> {
  const { Client } = await load<Main>(".");
  const page = (from: number, count: number): string =>
    JSON.stringify({
      data: times(100, (at) => ({ id: `prj_${from + at}`, name: `Project ${from + at}` })),
      next_cursor: from + 100 < count ? String(from + 100) : null,
    });
  return async (count) => {
    let from = 0;
    const fetch = async (): Promise<Response> => {
      const body = page(from, count);
      from += 100;
      return new Response(body, { headers: HEADERS });
    };
    let seen = 0;
    for await (const _ of new Client({ ...SERVICE, fetch }).projects.list({ limit: 100 })) seen += 1;
    if (seen !== count) throw new Error(`the walk had ${seen} items of ${count}`);
  };
}

async function bulkItems(load: Load): Promise<Lap> {
  const { Client } = await load<Main>(".");
  const { bulkWrite, memoryJournal } = await load<typeof import("../../dist/bulk/index.js")>("./bulk");
  const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
    const isRead = init?.method === "GET";
    const body = isRead ? '{"data":[],"next_cursor":null}' : '{"number":1,"title":"t","status":"open"}';
    return new Response(body, { headers: HEADERS });
  };
  const client = new Client({ ...SERVICE, fetch });
  return (count) =>
    bulkWrite({
      client,
      items: times(count, String),
      key: (item) => item,
      send: (sender, title) => sender.issues.create("web", { title, type: "bug" }),
      journal: memoryJournal(),
    });
}

async function emulatorRequests(load: Load): Promise<Lap> {
  const { Client } = await load<Main>(".");
  const { createEmulator } = await load<typeof import("../../dist/testing/index.js")>("./testing");
  return async (count) => {
    const emulator = createEmulator({ rateLimit: false });
    const client = new Client(emulator.clientOptions);
    for (let at = 0; at < count; at += 1) await client.issues.create("web", { title: String(at), type: "bug" });
    if (emulator.requests.length === 0) throw new Error("the log is empty");
  };
}

/** A reader has the page open. */
async function pageRequests(load: Load): Promise<Lap> {
  const { Client } = await load<Main>(".");
  const { startEmulator } = await load<typeof import("../../dist/testing/node.js")>("./testing/node");
  return async (count) => {
    await using service = await startEmulator({ page: true, rateLimit: false });
    const { body } = await fetch(new URL("/_emulator/events", service.page));
    const reader = body?.getReader();
    const read = async (): Promise<void> => {
      while (!(await reader?.read())?.done);
    };
    void read().catch(() => {}); // the service ends it
    const client = new Client(service.clientOptions);
    for (let at = 0; at < count; at += 1) await client.issues.create("web", { title: String(at), type: "bug" });
  };
}

export const ROWS: Readonly<Record<string, (load: Load) => Promise<Lap>>> = {
  "queued calls": calls(),
  "queued calls, a pause in the middle": pausedCalls,
  [REDIS_ROW]: redisCalls,
  "waiting calls that are aborted": abortedCalls,
  "paused tokens": pausedTokens,
  "items of a walk": walk,
  "items of a bulk write": bulkItems,
  "requests to the emulator": emulatorRequests,
  "requests on its page": pageRequests,
};
