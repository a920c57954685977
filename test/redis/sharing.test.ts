/** What the processes of one token share, and how little they ask Redis. Each case with both kinds of clients. */
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { ClientKind } from "../support/redis-clients.ts";
import { SKIPS_REDIS } from "../support/redis-server.ts";
import { scriptedFetch } from "../support/scripted-fetch.ts";
import { Call, Fleet, left, OK, refused, SERVICE, TOKEN } from "./limiter.ts";

const PAUSE_MS = 300;

/** Whether it has happened by the time that all that is under way has come to rest. */
async function hasHappened(fleet: Fleet, promise: Promise<unknown>): Promise<boolean> {
  await fleet.rest();
  return await Promise.race([promise.then(() => true), Promise.resolve().then(() => false)]);
}

describe.skipIf(SKIPS_REDIS).each<ClientKind>(["ioredis", "redis"])("with %s", { concurrent: true }, (kind) => {
  test("a pause is everybody's, and one goes ahead after it", async () => {
    await using fleet = await Fleet.start(kind);
    const [one, two] = [await fleet.join(), await fleet.join()];
    const first = new Call(one);
    await first.start();
    expect(first.end(refused(PAUSE_MS))).toBeGreaterThanOrEqual(PAUSE_MS);

    const second = new Call(two);
    const third = new Call(two);
    const sent: Call[] = [];
    const starts = [first, second, third].map(async (call) => {
      expect(await call.start()).toBe("sent");
      sent.push(call);
    });
    await Promise.race(starts);
    expect(await hasHappened(fleet, Promise.all(starts))).toBe(false);
    expect(sent).toHaveLength(1);
    sent[0]?.end(left(2));
    await Promise.all(starts);
    expect(two.limiter.snapshot(TOKEN, SERVICE)).toMatchObject({
      limit: 50,
      remaining: 2,
      observedAt: expect.any(Date),
    });
  });

  test("a pause is in the snapshot of every process that has sent a request", async () => {
    await using fleet = await Fleet.start(kind);
    const [one, two] = [await fleet.join(), await fleet.join()];
    const first = new Call(one);
    await first.start();
    expect(two.limiter.snapshot(TOKEN, SERVICE)).toBeUndefined();
    const refusedAt = Date.now();
    first.end(refused(60_000));
    const second = new Call(two, { maxPauses: 0 });
    expect(await second.start()).toBe("refused");
    const until = two.limiter.snapshot(TOKEN, SERVICE)?.pausedUntil?.getTime() ?? 0;
    expect(until).toBeGreaterThan(refusedAt + 50_000);
  });

  test("a probe that is released passes on", async () => {
    await using fleet = await Fleet.start(kind);
    const [one, two] = [await fleet.join(), await fleet.join()];
    const first = new Call(one);
    await first.start();
    first.end(refused(1));
    expect(await first.start()).toBe("sent");
    const second = new Call(two);
    const start = second.start();
    expect(await hasHappened(fleet, start)).toBe(false);
    first.turn.release(); // never answered
    expect(await start).toBe("sent");
  });

  test("never more in flight than is left, over all processes; at 0, one at a time", async () => {
    await using fleet = await Fleet.start(kind);
    const members = [await fleet.join(), await fleet.join(), await fleet.join()];
    const [one] = members;
    if (one === undefined) throw new Error("nobody came");
    const scout = new Call(one);
    await scout.start();
    scout.end(left(4));
    await fleet.rest();

    let inFlight = 0;
    let most = 0;
    const waves = [4, 2, 0];
    for (const allowed of waves) {
      most = 0;
      const calls = members.flatMap((member) => Array.from({ length: 3 }, () => new Call(member)));
      await Promise.all(
        calls.map(async (call) => {
          expect(await call.start()).toBe("sent");
          inFlight += 1;
          most = Math.max(most, inFlight);
          await fleet.rest();
          inFlight -= 1;
          call.end(left(allowed));
        }),
      );
      // The last state of the earlier wave holds until the first response of this one.
      const before = waves[waves.indexOf(allowed) - 1] ?? allowed;
      expect(most).toBeLessThanOrEqual(Math.max(1, before));
      await fleet.rest();
    }
    expect(most).toBe(2);
  });

  test("a process that dies blocks no other for longer than a lease: neither with its probe nor with its slots", async () => {
    await using fleet = await Fleet.start(kind);
    const leaseMs = 500;
    const [dying, living] = [await fleet.join({ leaseMs }), await fleet.join({ leaseMs })];
    const scout = new Call(dying);
    await scout.start();
    scout.end(refused(1));
    expect(await scout.start()).toBe("sent");
    dying.connected.cut();
    const heir = new Call(living);
    expect(await heir.start()).toBe("sent");
    heir.end(left(0));

    const late = await fleet.join({ leaseMs });
    expect(await new Call(late).start()).toBe("sent");
    late.connected.cut();
    expect(await new Call(living).start()).toBe("sent");
  });

  test("a request that takes longer than a lease is counted as long as it takes", async ({ expect }) => {
    await using fleet = await Fleet.start(kind);
    const leaseMs = 3_000; // a process that is stalled for longer is taken for dead
    const [one, two] = [await fleet.join({ leaseMs }), await fleet.join({ leaseMs })];
    const slow = new Call(one);
    await slow.start();
    slow.end(left(0));
    await slow.start();
    const [key = ""] = await fleet.admin.keys("*:slots");
    const readLease = async (): Promise<number> => Number((await fleet.admin.zrange(key, 0, "-1", "WITHSCORES"))[1]);
    const granted = await readLease();
    const waiting = new Call(two).start();
    // Until it has been renewed twice.
    await expect.poll(readLease).toBeGreaterThanOrEqual(granted + 2 * (leaseMs / 3));
    expect(await hasHappened(fleet, waiting)).toBe(false);
    slow.end(OK);
    expect(await waiting).toBe("sent");
  });

  test("429s in a row are counted by all processes, so that Retry-After: 0 on each causes no loop", async () => {
    await using fleet = await Fleet.start(kind);
    const members = [await fleet.join(), await fleet.join()];
    const pauses: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      const call = new Call(members[round % 2] ?? (await fleet.join()));
      expect(await call.start()).toBe("sent");
      pauses.push(call.end(refused(0)) ?? 0);
      await fleet.rest();
    }
    expect(pauses[1]).toBeGreaterThanOrEqual(250);
    expect(pauses[2]).toBeGreaterThanOrEqual(500);
    expect(pauses[3]).toBeGreaterThanOrEqual(1_000);
    // Nor does any call sit through more pauses than it wants, whoever was refused.
    const [one, two] = [await fleet.join(), await fleet.join()];
    const last = new Call(one);
    expect(await last.start()).toBe("sent");
    last.end(refused(60_000));
    await fleet.rest();
    expect(await new Call(two, { maxPauses: 0 }).start()).toBe("refused");
  });

  test("a token that is swapped while Redis replies slowly: the call is sent with the new one", async () => {
    await using fleet = await Fleet.start(kind);
    const { limiter } = await fleet.join();
    const service = scriptedFetch();
    const client = service.client({ token: TOKEN, rateLimiter: limiter });
    await client.sessions.get("1");
    await fleet.rest();
    fleet.redis.freeze();
    const call = client.sessions.get("2");
    await setImmediate(); // Redis is asked
    client.setToken("pat_key_another");
    fleet.redis.thaw();
    await call;
    expect(service.sent.map(({ token }) => token)).toEqual([TOKEN, "pat_key_another"]);
  });

  test("two commands an attempt, whatever the number of calls", async () => {
    await using fleet = await Fleet.start(kind);
    // Leases are renewed after a third of this: on a busy machine, too, not before the end.
    const one = await fleet.join({ leaseMs: 600_000 });
    const before = await fleet.scriptsRun();
    await Promise.all(
      Array.from({ length: 40 }, async () => {
        const call = new Call(one);
        await call.start();
        call.end(OK);
      }),
    );
    await fleet.rest();
    expect((await fleet.scriptsRun()) - before).toBe(80);
  });

  test("nothing in Redis holds the token, and everything expires", async () => {
    await using fleet = await Fleet.start(kind);
    await using monitor = await fleet.redis.monitor();
    const one = await fleet.join({ namespace: "billing" });
    const call = new Call(one);
    await call.start();
    call.end(left(7));
    await new Call(one).start();
    const keys = await fleet.admin.keys("*");
    expect(keys.map((key) => key.replaceAll(/[0-9a-f]{32}/g, "…")).sort()).toEqual([
      "billing:1:{…}:…:known",
      "billing:1:{…}:…:slots",
    ]);
    for (const key of keys) expect(await fleet.admin.pttl(key)).toBeGreaterThan(0);
    await fleet.rest();
    const seen = monitor.lines();
    expect(seen.filter((line) => /"eval(?:sha)?"/i.test(line)).length).toBeGreaterThan(2);
    for (const part of ["topsecret", TOKEN, encodeURIComponent(TOKEN)]) expect(seen.join("\n")).not.toContain(part);
  });

  test("namespaces share nothing", async () => {
    await using fleet = await Fleet.start(kind);
    const [one, two] = [await fleet.join({ namespace: "one" }), await fleet.join({ namespace: "two" })];
    const first = new Call(one);
    await first.start();
    first.end(refused(60_000));
    expect(await new Call(two, { maxPauses: 0 }).start()).toBe("sent");
  });

  test("who is aborted while it waits for the others leaves, and takes nothing along", async () => {
    await using fleet = await Fleet.start(kind);
    const [one, two] = [await fleet.join(), await fleet.join()];
    const first = new Call(one);
    await first.start();
    first.end(left(0));
    await first.start();
    const [leaving, staying] = [new Call(two), new Call(two)];
    const starts = [leaving.start(), staying.start()];
    expect(await hasHappened(fleet, Promise.race(starts))).toBe(false);
    leaving.abort.abort();
    expect(await starts[0]).toBe("stopped");
    first.end(OK);
    expect(await starts[1]).toBe("sent");
  });
});
