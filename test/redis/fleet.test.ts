/** A fleet of processes on one token, over real sockets and a real Redis, judged on the service's log. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { Redis } from "ioredis";
import { describe, expect, type TestContext, test } from "vitest";
import { bundled } from "../support/child-program.ts";
import { RedisServer, SKIPS_REDIS } from "../support/redis-server.ts";
import type { Outcome, Task } from "./member.ts";
import { LimitedService } from "./service.ts";

const LIMIT = 50;
const WINDOW_MS = 1_000;
const CALLS = 100;
const TOKEN = "pat_fleet_secret";
const MEMBER = bundled(resolve(import.meta.dirname, "member.ts"));

type Shared = Pick<Task, "redisPort" | "baseUrl" | "commandTimeoutMs"> & Pick<TestContext, "onTestFinished">;

/** Four processes that are connected and wait for the word, two of each kind of client. */
async function assemble({ onTestFinished, ...shared }: Shared, calls = CALLS): Promise<ChildProcess[]> {
  const kinds = ["ioredis", "redis", "ioredis", "redis"] as const;
  const members = kinds.map((kind, index) => {
    const task: Task = { ...shared, name: `p${index}`, kind, token: TOKEN, calls };
    const member = fork(MEMBER, [JSON.stringify(task)], { execArgv: ["--no-warnings"] });
    onTestFinished(() => void member.kill("SIGKILL"));
    return member;
  });
  await Promise.all(members.map((member) => once(member, "message")));
  return members;
}

function work(member: ChildProcess): Promise<Outcome> {
  const done = once(member, "message").then(([outcome]) => outcome as Outcome);
  member.send("go");
  return done;
}

describe.skipIf(SKIPS_REDIS)("4 processes with 100 calls each against 50 per window", { concurrent: true }, () => {
  test("all complete, and the fleet is as courteous as one process", async ({ onTestFinished }) => {
    await using redis = await RedisServer.start();
    await using service = await LimitedService.start(LIMIT, WINDOW_MS);
    // What is promised here is promised while Redis is there, and a busy machine may be slow to say so.
    const shared = { redisPort: redis.port, baseUrl: service.baseUrl, commandTimeoutMs: 20_000, onTestFinished };
    const outcomes = await Promise.all((await assemble(shared)).map(work));

    expect(outcomes).toEqual(outcomes.map(() => ({ completed: CALLS, errors: [], events: [] })));
    expect(new Set(service.accepted.map(({ call }) => call)).size).toBe(4 * CALLS);
    expect(service.accepted).toHaveLength(4 * CALLS);

    expect(service.refused.length, "the limit was met").toBeGreaterThanOrEqual((4 * CALLS) / LIMIT - 1);
    for (const { window } of service.refused) {
      const inWindow = service.refused.filter((one) => one.window === window);
      expect(inWindow.length, `refusals in window ${window}`).toBeLessThan(3);
    }

    for (const { endedAt, pausedUntil } of service.refused) {
      const early = service.log.filter(({ at }) => at > endedAt && at < pausedUntil);
      expect(early, "sent during a pause").toEqual([]);
      // One goes ahead: the next comes when it has been answered.
      const [probe, second] = service.log.filter(({ at }) => at >= pausedUntil);
      expect(second?.at ?? Infinity).toBeGreaterThanOrEqual(probe?.endedAt ?? Infinity);
    }
  });

  test("two are killed, Redis is restarted and emptied: the others complete", async ({ onTestFinished }) => {
    await using redis = await RedisServer.start();
    await using service = await LimitedService.start(LIMIT, WINDOW_MS);
    const shared = { redisPort: redis.port, baseUrl: service.baseUrl, commandTimeoutMs: 250, onTestFinished };
    const [first, second, ...doomed] = await assemble(shared, 2 * CALLS);
    if (first === undefined || second === undefined) throw new Error("nobody came");
    const outcomes = Promise.all([work(first), work(second)]);
    for (const member of doomed) member.send("go");

    await service.whenAccepted(30);
    for (const member of doomed) member.kill("SIGKILL");
    await service.whenAccepted(60);
    await redis.kill();
    await service.whenAccepted(110);
    await redis.start();
    await service.whenAccepted(160);
    const admin = new Redis({ port: redis.port });
    admin.on("error", () => {});
    await admin.flushall();
    admin.disconnect();

    for (const { completed, errors } of await outcomes)
      expect({ completed, errors }).toEqual({ completed: 2 * CALLS, errors: [] });
    // Whoever is done before Redis is back hears no more of it: calls are left for several windows.
    expect((await outcomes).flatMap(({ events }) => events)).toEqual(expect.arrayContaining(["degraded", "rejoined"]));
  });
});
