/** The work of a lap, by measure. It checks what it gets: a client that does other work makes the bench fail. */

import assert from "node:assert/strict";
import { setTimeout as delay, setImmediate as turn } from "node:timers/promises";
import type { Calls } from "../clients.ts";
import { ANSWER_HEADERS, issueBody, itemOf, ROUND, sessionBody, sessionId, titleOf } from "./bodies.ts";
import type { Lap } from "./worker.ts";

type Connect = (fetch?: typeof globalThis.fetch) => Promise<Calls>;
type RunLap = (calls: number) => Promise<Partial<Lap>>;

const PAGE = 200;
export const WALKED = 100_000;
export const MEMORY_ITEMS = 1_000_000;
export const LOOK_ITEMS = 100_000;
export const PREFETCH = { pages: 40, pageMs: 5 } as const;

async function getSession(calls: Calls, at: number): Promise<void> {
  const { id, state } = (await calls.getSession?.(sessionId(at))) ?? {};
  if (id !== sessionId(at) || state !== "running") throw new Error(`call ${at} resolved with session ${id}, ${state}`);
}

async function createIssue(calls: Calls, at: number): Promise<void> {
  const { title } = await calls.createIssue(titleOf(at));
  if (title !== titleOf(at)) throw new Error(`call ${at} resolved with issue ${title}`);
}

/** `fetch` gives a ready response, so all the rest is the client. */
function inProcess(perform: typeof getSession, bodyOf: (at: number) => string): (connect: Connect) => Promise<RunLap> {
  const bodies = Array.from({ length: ROUND }, (_, at) => bodyOf(at));
  return async (connect) => {
    let answered = 0;
    const calls = await connect(async () => {
      const body = bodies[answered % ROUND];
      answered += 1;
      return new Response(body, { status: 200, headers: ANSWER_HEADERS });
    });
    return async (count) => {
      answered = 0;
      for (let at = 0; at < count; at += 1) await perform(calls, at);
      assert.equal(answered, count, "as many requests as calls");
      return {};
    };
  };
}

/** Walks a list and looks at each item, at little cost: at the last digit of its id. */
async function walk(
  calls: Calls,
  items: number,
  afterPage?: (seen: number) => Promise<void> | undefined,
): Promise<void> {
  let seen = 0;
  await calls.walk?.(PAGE, ({ id }) => {
    if (id.charCodeAt(id.length - 1) !== 48 + (seen % 10)) throw new Error(`${id} is not item ${seen}`);
    seen += 1;
    return seen % PAGE === 0 ? afterPage?.(seen) : undefined;
  });
  assert.equal(seen, items);
}

async function checkWalk(calls: Calls, items: number): Promise<void> {
  let seen = 0;
  await calls.walk?.(PAGE, (item) => {
    assert.deepEqual({ ...item }, itemOf(seen));
    seen += 1;
    return undefined;
  });
  assert.equal(seen, items);
}

/** Returns what is in use, in MB, once everything is collected that can be. Code that nobody runs goes after some rounds. */
async function settledHeap(): Promise<number> {
  for (let times = 0; times < 4; times += 1) {
    await turn(); // what the present turn of the event loop holds is let go
    globalThis.gc?.();
  }
  return process.memoryUsage().heapUsed / 1e6;
}

export const works = {
  get: inProcess(getSession, (at) => sessionBody(sessionId(at))),
  post: inProcess(createIssue, issueBody),

  loopback: async (connect) => {
    const calls = await connect();
    return async (count) => {
      for (let at = 0; at < count; at += 1) await getSession(calls, at);
      return {};
    };
  },

  walk: async (connect) => {
    const calls = await connect();
    await checkWalk(calls, WALKED);
    return async (walks) => {
      for (let at = 0; at < walks; at += 1) await walk(calls, WALKED);
      return {};
    };
  },

  prefetch: async (connect) => {
    const calls = await connect();
    for (let at = 0; at < 2_000; at += 1) await getSession(calls, at); // walks are too few to warm anything up
    const items = PREFETCH.pages * PAGE;
    await checkWalk(calls, items);
    return async () => {
      await walk(calls, items, () => delay(PREFETCH.pageMs));
      return {};
    };
  },

  /** The peak is that of a walk that nobody looks into; a second one is looked into. */
  memory: async (connect) => {
    const calls = await connect();
    return async () => {
      await walk(calls, MEMORY_ITEMS);
      const peak = (process.resourceUsage().maxRSS * 1_024) / 1e6;
      const heap: number[] = [];
      const look = async (): Promise<void> => void heap.push(await settledHeap());
      await walk(calls, MEMORY_ITEMS, (seen) => (seen % LOOK_ITEMS === 0 ? look() : undefined));
      return { peak, heap };
    };
  },
} satisfies Readonly<Record<string, (connect: Connect) => Promise<RunLap>>>;
export type Work = keyof typeof works;
