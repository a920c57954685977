/** The import on BullMQ, by three processes that are killed and stopped, with a real Redis. */
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { describe, expect, test } from "vitest";
import { RedisServer, SKIPS_REDIS } from "../../support/redis-server.ts";
import { CASES } from "./queues/cases.ts";
import { keyOf, type QueueOfTest } from "./queues/fleet.ts";
import { duplicatesOf, importUnderFire } from "./queues/trial.ts";

interface Jobs extends QueueOfTest, AsyncDisposable {}

async function start(): Promise<Jobs> {
  const server = await RedisServer.start();
  const redis = new Redis(server.port);
  const queue = new Queue("import", { connection: redis });
  return {
    example: "import-with-bullmq.ts",
    env: { REDIS_URL: `redis://127.0.0.1:${server.port}`, LOCK_MS: "2000", PAUSE_MS: "500" },
    counts: async () => {
      const { completed = 0, failed = 0, ...others } = await queue.getJobCounts();
      return { done: completed, failed, open: Object.values(others).reduce((sum, one) => sum + one, 0) };
    },
    endOf: async (row) => {
      const state = await queue.getJobState(keyOf(row));
      if (state === "completed") return "done";
      return state === "failed" ? "failed" : undefined;
    },
    [Symbol.asyncDispose]: async () => {
      redis.disconnect();
      await queue.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe.skipIf(SKIPS_REDIS)("the import on BullMQ", () => {
  test("of 2,000 rows through 30 kills, 10 stops, lost responses, an outage and a rotation: none twice, none lost", async () => {
    await using queue = await start();
    const { kills, killsOfRequests, stops, stopsOfRequests } = await importUnderFire(queue);
    expect([kills, stops]).toEqual([30, 10]);
    expect(killsOfRequests, "killed with a request on its way").toBeGreaterThanOrEqual(20);
    expect(stopsOfRequests, "stopped between the record and the request").toBeGreaterThanOrEqual(5);
  });

  test.each(Object.entries(CASES))("%s", async (_, happens) => {
    await using queue = await start();
    await happens(queue);
  });

  test("without a journal creates rows twice when workers are killed", async () => {
    await using queue = await start();
    expect(await duplicatesOf(queue)).toBeGreaterThan(0);
  });
});
