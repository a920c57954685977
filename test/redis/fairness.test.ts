/** What is left is shared in order of asking, judged on the log of who was sent. */
import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { SKIPS_REDIS } from "../support/redis-server.ts";
import { Call, Fleet, left } from "./limiter.ts";

const PROCESSES = 4;
const CALLS_EACH = 30;
const RESPONSE_MS = 4;

/** Who was sent, in order, while every process had calls left. */
async function sentWhileAllWait(remaining: number): Promise<readonly number[]> {
  await using fleet = await Fleet.start("ioredis");
  const members = await Promise.all(Array.from({ length: PROCESSES }, () => fleet.join()));
  const log: number[] = [];
  const work = members.flatMap((member, index) =>
    Array.from({ length: CALLS_EACH }, async () => {
      const call = new Call(member);
      expect(await call.start()).toBe("sent");
      log.push(index);
      await setTimeout(RESPONSE_MS);
      call.end(left(remaining));
    }),
  );
  await Promise.all(work);
  const counts = members.map(() => 0);
  const end = log.findIndex((index) => {
    counts[index] = (counts[index] ?? 0) + 1;
    return counts[index] === CALLS_EACH;
  });
  // Nothing is known of what is left before the first responses.
  return log.slice(PROCESSES * 10, end);
}

describe.skipIf(SKIPS_REDIS)("at a constant RateLimit-Remaining", { concurrent: true }, () => {
  test.each([0, 1, 2])("of %i every process gets the same share", async (remaining) => {
    const log = await sentWhileAllWait(remaining);
    const counts = Array.from({ length: PROCESSES }, (_, index) => log.filter((one) => one === index).length);
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(Math.max(...counts) - 2);
    expect(Math.min(...counts)).toBeGreaterThan(5);
    if (remaining === 2) return;
    // One at a time: no process is sent again before each other that waits has had its turn.
    for (const [at, index] of log.entries()) {
      const next = log.indexOf(index, at + 1);
      if (next > 0) expect(new Set(log.slice(at, next)).size, `from ${at} to ${next}`).toBe(PROCESSES);
    }
  });
});
