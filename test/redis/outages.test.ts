/** Redis is slow, gone, emptied or refuses: calls go on, and the processes find together again. */
import { describe, expect, test } from "vitest";
import type { ClientKind } from "../support/redis-clients.ts";
import { SKIPS_REDIS } from "../support/redis-server.ts";
import { Call, Fleet, left, type Member, OK, refused, TOKEN } from "./limiter.ts";

/** Far above what a busy machine takes, so that only what the test does makes it run out. */
const BOUND_MS = 5_000;

/** Makes calls until one of them has found Redis again. */
async function rejoin(member: Member): Promise<void> {
  while (member.events.at(-1)?.type !== "rejoined") {
    const call = new Call(member);
    expect(await call.start()).toBe("sent");
    await member.connected.ping();
    call.end(OK);
  }
}

describe.skipIf(SKIPS_REDIS).each<ClientKind>(["ioredis", "redis"])("with %s", { concurrent: true }, (kind) => {
  test("that is killed and started again: calls go on at once, and what is known is shared again", async () => {
    await using fleet = await Fleet.start(kind);
    const one = await fleet.join({ commandTimeoutMs: BOUND_MS });
    const first = new Call(one);
    await first.start();
    first.end(left(9));
    await fleet.redis.kill();

    expect(await first.start()).toBe("sent");
    expect(one.events).toMatchObject([{ type: "degraded" }]);
    first.end(OK);
    // It is known to be away: nobody waits for it.
    for (let call = 0; call < 20; call += 1) {
      const { turn } = new Call(one);
      expect(turn.acquire(TOKEN)).toEqual({ kind: "admitted" });
      turn.report(OK);
      turn.release();
    }
    expect(one.events).toHaveLength(1);

    await fleet.redis.start();
    await rejoin(one);
    expect(one.events).toMatchObject([{ type: "degraded" }, { type: "rejoined", afterMs: expect.any(Number) }]);
    const [two, late] = [await fleet.join(), new Call(one)];
    await late.start();
    late.end(refused(60_000));
    await fleet.rest();
    expect(await new Call(two, { maxPauses: 0 }).start()).toBe("refused");
  });

  test("a pause that began while it was unavailable is shared when it is available again", async () => {
    await using fleet = await Fleet.start(kind);
    const one = await fleet.join({ commandTimeoutMs: BOUND_MS });
    const first = new Call(one);
    await first.start();
    await fleet.redis.kill();
    const other = new Call(one);
    await other.start();
    other.end(OK);
    expect(first.end(refused(60_000))).toBeGreaterThanOrEqual(60_000);
    await fleet.redis.start();
    // Calls that are held back by it bring it to the others.
    while (one.events.at(-1)?.type !== "rejoined") {
      expect(await new Call(one, { maxPauses: 0 }).start()).toBe("refused");
      await one.connected.ping();
    }
    expect(await new Call(await fleet.join(), { maxPauses: 0 }).start()).toBe("refused");
  });

  test("that hangs: no call waits for longer than the bound", async () => {
    await using fleet = await Fleet.start(kind);
    const one = await fleet.join({ commandTimeoutMs: BOUND_MS });
    const warm = new Call(one);
    await warm.start();
    warm.end(OK);
    await fleet.rest();
    fleet.redis.freeze();
    // Its silence is heard of at once by all that ask at once.
    const calls = Array.from({ length: 5 }, () => new Call(one));
    expect(await Promise.all(calls.map((call) => call.start()))).toEqual(calls.map(() => "sent"));
    expect(one.events).toMatchObject([{ type: "degraded", reason: "timeout" }]);
    for (const call of calls) call.end(OK);
    fleet.redis.thaw();
    await rejoin(one);
  });

  test("that rejects commands: the event has the error's code, and nothing else of it", async () => {
    await using fleet = await Fleet.start(kind);
    const one = await fleet.join();
    await fleet.admin.call("ACL", "SETUSER", "default", "-eval");
    expect(await new Call(one).start()).toBe("sent");
    expect(one.events).toMatchObject([{ type: "degraded", reason: "error", code: "NOPERM" }]);
    await fleet.admin.call("ACL", "SETUSER", "default", "+eval");
    await rejoin(one);
  });

  test("that is emptied: who knows of a pause still goes ahead alone", async () => {
    await using fleet = await Fleet.start(kind);
    const [one, two] = [await fleet.join(), await fleet.join()];
    const first = new Call(one);
    await first.start();
    first.end(refused(1));
    await fleet.rest();
    await fleet.admin.flushall();
    expect(await first.start()).toBe("sent");
    const second = new Call(two);
    const start = second.start();
    await fleet.rest();
    expect(await Promise.race([start, Promise.resolve("waits")])).toBe("waits");
    first.end(OK);
    expect(await start).toBe("sent");
    expect([...one.events, ...two.events]).toEqual([]);
  });
});
