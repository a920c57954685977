/** The work of a lap, by measure. It checks what it gets: a client that does other work makes the bench fail. */

import assert from "node:assert/strict";
import { setTimeout as delay, setImmediate as turn } from "node:timers/promises";
import type { Calls } from "../clients.ts";
import { HEADERS, issueBody, ROUND, sessionBody, sessionId, titleOf } from "./bodies.ts";

type Connect = (fetch?: typeof globalThis.fetch) => Promise<Calls>;
/** Runs a lap of so many calls, or one walk. Returns the heap on the way in MB, where the measure is about that. */
type RunLap = (calls: number) => Promise<readonly number[]>;

const PAGE = 200;
const LOOK_ITEMS = 100_000;
export const WALKED = 100_000;
export const MANY = 1_000_000;
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
      return new Response(body, { status: 200, headers: HEADERS });
    });
    return async (count) => {
      answered = 0;
      for (let at = 0; at < count; at += 1) await perform(calls, at);
      assert.equal(answered, count, "as many requests as calls");
      return [];
    };
  };
}

/** Walks a list and looks at each item, at little cost: at the last digit of its id. */
async function walk(calls: Calls, items: number, afterPage = async (_seen: number) => {}): Promise<void> {
  let seen = 0;
  await calls.walk?.(PAGE, ({ id }) => {
    if (id.charCodeAt(id.length - 1) !== 48 + (seen % 10)) throw new Error(`${id} is not item ${seen}`);
    seen += 1;
    return seen % PAGE === 0 ? afterPage(seen) : undefined;
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
      return [];
    };
  },
  walk: async (connect) => {
    const calls = await connect();
    return async () => {
      await walk(calls, WALKED);
      return [];
    };
  },
  prefetch: async (connect) => {
    const calls = await connect();
    for (let at = 0; at < 2_000; at += 1) await getSession(calls, at); // walks are too few to warm anything up
    return async () => {
      await walk(calls, PREFETCH.pages * PAGE, () => delay(PREFETCH.pageMs));
      return [];
    };
  },
  memory: async (connect) => {
    const calls = await connect();
    return async () => {
      const heap: number[] = [];
      await walk(calls, MANY, async (seen) => {
        if (seen % LOOK_ITEMS === 0) heap.push(await settledHeap());
      });
      return heap;
    };
  },
} satisfies Readonly<Record<string, (connect: Connect) => Promise<RunLap>>>;
