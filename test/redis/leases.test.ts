/** What processes hold in Redis: nobody else loses it, and none of it outlives its call. */
import { describe, expect, test } from "vitest";
import type { ClientKind } from "../support/redis-clients.ts";
import { SKIPS_REDIS } from "../support/redis-server.ts";
import { Call, Fleet, left, OK, TOKEN } from "./limiter.ts";

describe.skipIf(SKIPS_REDIS).each<ClientKind>(["ioredis", "redis"])("with %s", { concurrent: true }, (kind) => {
  test("a process with short leases does not end the longer lease of another", async () => {
    await using fleet = await Fleet.start(kind);
    const [long, short] = [await fleet.join({ leaseMs: 5_000 }), await fleet.join({ leaseMs: 500 })];
    const scout = new Call(long);
    await scout.start();
    scout.end(left(2));
    await fleet.rest();
    const slow = new Call(long);
    expect(await slow.start()).toBe("sent");
    const granted = await fleet.slots();
    const quick = new Call(short);
    expect(await quick.start()).toBe("sent");
    expect((await fleet.slots()).endsAt).toBeGreaterThanOrEqual(granted.endsAt);
    quick.end(left(2));
    await fleet.rest();
    const { leases, endsAt, now } = await fleet.slots();
    expect(endsAt).toBeGreaterThanOrEqual(granted.endsAt);
    // A request that takes as long as a lease at the most, on a machine so slow, counts no more.
    if (now < granted.endsAt) expect(leases).toEqual(granted.leases);
  });

  test("the places of processes that have died last for a second, however long leases are", async () => {
    await using fleet = await Fleet.start(kind);
    const leaseMs = 3_600_000;
    const [holding, living] = [await fleet.join({ leaseMs }), await fleet.join({ leaseMs })];
    const held = new Call(holding);
    await held.start();
    held.end(left(0));
    await fleet.rest();
    await held.start();
    for (const dying of [await fleet.join({ leaseMs }), await fleet.join({ leaseMs })]) {
      void new Call(dying).start();
      await fleet.rest();
      dying.connected.cut();
    }
    held.end(left(0));
    expect(await new Call(living).start()).toBe("sent");
  });

  test("a slot that was waited for is kept, although this process admits fewer calls by then", async () => {
    await using fleet = await Fleet.start(kind);
    const [one, two] = [await fleet.join(), await fleet.join()];
    const held = new Call(one);
    await held.start();
    held.end(left(1));
    await fleet.rest();
    await held.start();
    // Its process knows of no limit before Redis has replied, and admits both.
    const { turn } = new Call(two);
    const admissions = [turn.acquire(TOKEN), new Call(two).turn.acquire(TOKEN)];
    await fleet.rest();
    held.end(left(1));
    expect(await admissions[0]).toMatchObject({ kind: "admitted" });
    // As a call does that has read its token again.
    expect(await turn.acquire(TOKEN)).toEqual({ kind: "admitted" });
  });

  test("a command that waited for Redis to come back leaves no lease of a call that is over", async () => {
    await using fleet = await Fleet.start(kind);
    const one = await fleet.join({ commandTimeoutMs: 50 });
    await fleet.redis.kill();
    // Its command waits in the client's own queue, and has never heard the clock of Redis.
    const call = new Call(one);
    expect(await call.start()).toBe("sent");
    call.end(OK);
    await fleet.redis.start();
    while (one.events.at(-1)?.type !== "rejoined") {
      await one.connected.ping();
      const next = new Call(one);
      expect(await next.start()).toBe("sent");
      next.end(OK);
    }
    await fleet.rest();
    expect(await fleet.leases()).toEqual([]);
  });

  test("a frozen Redis that goes on holds nothing of calls that are over", async ({ expect }) => {
    await using fleet = await Fleet.start(kind);
    const one = await fleet.join({ commandTimeoutMs: 100, leaseMs: 600_000 });
    fleet.redis.freeze();
    const calls = Array.from({ length: 5 }, () => new Call(one));
    await Promise.all(calls.map((call) => call.start()));
    for (const call of calls) call.end(OK);
    fleet.redis.thaw();
    await fleet.rest();
    // What it carries out late is given back after its late reply, and a lease lasts for longer than this waits.
    await expect.poll(() => fleet.leases()).toEqual([]);
  });
});
