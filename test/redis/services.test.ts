/** What processes share about a token is about one service. */
import { describe, expect, test } from "vitest";
import type { ClientKind } from "../support/redis-clients.ts";
import { SKIPS_REDIS } from "../support/redis-server.ts";
import { Call, Fleet, left, refused, SERVICE, TOKEN } from "./limiter.ts";

const OTHER = SERVICE.replace("/api", "/tenant-b/api");

describe.skipIf(SKIPS_REDIS).each<ClientKind>(["ioredis", "redis"])("with %s", { concurrent: true }, (kind) => {
  test("a pause at one service holds no process at another, and slots are counted apart", async () => {
    await using fleet = await Fleet.start(kind);
    const [one, two] = [await fleet.join(), await fleet.join()];
    for (const service of [SERVICE, OTHER]) {
      const scout = new Call(one, { service });
      await scout.start();
      scout.end(left(1));
    }
    await fleet.rest();
    // One is left at each: both are sent at once.
    const [here, there] = [new Call(one), new Call(two, { service: OTHER })];
    expect([await here.start(), await there.start()]).toEqual(["sent", "sent"]);
    here.end(refused(60_000));
    there.end(left(1));
    await fleet.rest();
    expect(await new Call(two, { maxPauses: 0 }).start()).toBe("refused");
    const next = new Call(two, { service: OTHER, maxPauses: 0 });
    expect(await next.start()).toBe("sent");
    next.end(left(1));
    expect(two.limiter.snapshot(TOKEN, SERVICE)?.pausedUntil).toBeInstanceOf(Date);
    expect(two.limiter.snapshot(TOKEN, OTHER)?.pausedUntil).toBeUndefined();
  });

  test("all keys of a token are on one node of a cluster, and name neither the token nor the service", async () => {
    await using fleet = await Fleet.start(kind);
    const one = await fleet.join();
    for (const service of [SERVICE, OTHER]) await new Call(one, { service }).start();
    await fleet.rest();
    const keys = await fleet.admin.keys("*");
    expect(new Set(keys.map((key) => /\{.*\}/.exec(key)?.[0])).size).toBe(1);
    expect(new Set(keys.map((key) => key.replace(/:[a-z]+$/, ""))).size).toBe(2);
    expect(keys.join()).not.toMatch(/secret|example|tenant/);
  });
});
