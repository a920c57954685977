/** Calls that leave, or that a platform drops, while they wait for a slot among the processes. */
import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Permit } from "../../src/core/rate-limit/rate-limiter.ts";
import { redisRateLimiter } from "../../src/redis/index.ts";
import { REPORT, TAKE } from "../../src/redis/scripts.ts";
import { reply } from "./reply.ts";

const TOKEN = "pat_key_secret";

/** Holds in a call that the platform has dropped: its timers never fire. */
const dropped = new AsyncLocalStorage<true>();
const realSetTimeout = globalThis.setTimeout;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
  const set = globalThis.setTimeout;
  globalThis.setTimeout = ((action: () => void, ms?: number) =>
    set(dropped.getStore() ? () => undefined : action, ms)) as typeof setTimeout; // its other forms are not used
});
afterEach(() => {
  vi.useRealTimers();
  globalThis.setTimeout = realSetTimeout;
});

interface Command {
  readonly script: string;
  readonly slot: string | undefined;
}

/** A limiter whose Redis is a function of the test. */
function withRedis(evaluate: (command: Command) => unknown) {
  const commands: Command[] = [];
  const run = async (script: string, { arguments: args }: { arguments: string[] }): Promise<unknown> => {
    const command = { script, slot: args[6] };
    commands.push(command);
    return await evaluate(command);
  };
  const limiter = redisRateLimiter({ client: { isOpen: true, eval: run } });
  const enter = ({ maxConcurrency = 10, timeoutMs = 30_000 } = {}): Permit =>
    limiter.enter({
      service: "https://a.example/api/v1",
      ...{ maxConcurrency, timeoutMs, maxPauses: 5 },
      maxPauseMs: Number.POSITIVE_INFINITY,
      endsAt: Number.POSITIVE_INFINITY,
      signal: new AbortController().signal,
    });
  /** Resolves when Redis is asked: the hash of the token takes a moment of real time. */
  const isAsked = async (): Promise<void> => {
    while (commands.length === 0) await setImmediate();
  };
  return { commands, enter, isAsked };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
}

async function pass(ms: number): Promise<void> {
  await settle();
  await vi.advanceTimersByTimeAsync(ms);
  await settle();
}

test("a call that is dropped while it asks Redis holds up those behind it for a moment only", async () => {
  let isFirst = true;
  const { enter, isAsked } = withRedis(({ script }) => {
    if (script !== TAKE || !isFirst) return reply(script === TAKE ? "granted" : "done");
    isFirst = false;
    return new Promise(() => undefined);
  });
  const first = enter();
  dropped.run(true, () => void first.acquire(TOKEN));
  await isAsked();
  const second = enter();
  let admitted: unknown;
  void Promise.resolve(second.acquire(TOKEN)).then((admission) => {
    admitted = admission;
  });
  await pass(500);
  expect(admitted, "the first one may still be there").toBeUndefined();
  await pass(1_000);
  expect(admitted).toEqual({ kind: "admitted" });
  second.release();
  first.release();
  await pass(10_000);
});

test("a call that leaves at whatever turn after Redis has granted a slot gives it back, once", async () => {
  for (let turns = 0; turns < 30; turns += 1) {
    let grant = (): void => {};
    const { commands, enter, isAsked } = withRedis(({ script }) => {
      if (script !== TAKE) return reply("done");
      return new Promise((resolve) => {
        grant = () => resolve(reply("granted"));
      });
    });
    const permit = enter();
    const admission = permit.acquire(TOKEN);
    await isAsked();
    grant();
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    permit.release();
    await admission;
    await settle();
    const taken = commands.find(({ script }) => script === TAKE)?.slot;
    const left = commands.filter(({ script }) => script === REPORT).map(({ slot }) => slot);
    expect(left, `after ${turns} turns`).toEqual([taken]);
    await pass(10_000);
  }
});

test("a call that waits for Redis for longer than its time limit keeps its slot in this process", async () => {
  let isFull = true;
  const { enter, isAsked } = withRedis(({ script }) => reply(script === TAKE ? (isFull ? "full" : "granted") : "done"));
  const limits = { maxConcurrency: 1, timeoutMs: 1_000 };
  const permits = [enter(limits), enter(limits)];
  const admitted: number[] = [];
  for (const [index, permit] of permits.entries()) {
    void Promise.resolve(permit.acquire(TOKEN)).then(() => admitted.push(index));
  }
  await isAsked();
  await pass(5_000);
  expect(admitted).toEqual([]);
  isFull = false;
  await pass(500);
  expect(admitted, "never more than maxConcurrency").toEqual([0]);
  permits[0]?.release();
  await pass(500);
  expect(admitted).toEqual([0, 1]);
  permits[1]?.release();
  await pass(10_000);
});
