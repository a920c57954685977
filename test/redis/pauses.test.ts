/** Pauses that processes share: how long at most, who ends them, and what Redis may forget. */
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type ClientEvent, path } from "../../src/client/index.ts";
import type { ClientKind } from "../support/redis-clients.ts";
import { SKIPS_REDIS } from "../support/redis-server.ts";
import { scriptedFetch } from "../support/scripted-fetch.ts";
import { Call, Fleet, left, type Member, OK, refused, SERVICE, TOKEN } from "./limiter.ts";

/** As the guide states it. */
const LONGEST_SHARED_PAUSE_MS = 600_000;
const WINDOW_MS = 60_000;
const AN_AGE_MS = 1e15;
/** Short, so that processes tell Redis what they know several times a second. */
const leaseMs = 500;

/** A slot that was granted longer ago than this is confirmed before it is used. */
const PAST_RECHECK_MS = 110;

async function pauseBy(member: Member, pauseMs: number): Promise<Call> {
  const call = new Call(member);
  expect(await call.start()).toBe("sent");
  call.end(refused(pauseMs));
  return call;
}

function pausedUntil(member: Member): number {
  return member.limiter.snapshot(TOKEN, SERVICE)?.pausedUntil?.getTime() ?? 0;
}

describe.skipIf(SKIPS_REDIS).each<ClientKind>(["ioredis", "redis"])("with %s", { concurrent: true }, (kind) => {
  test("an absurd Retry-After pauses others no longer than the longest shared pause", async () => {
    await using fleet = await Fleet.start(kind);
    const [one, two] = [await fleet.join(), await fleet.join()];
    await pauseBy(one, AN_AGE_MS);
    await fleet.rest();
    expect(await fleet.admin.pttl(await fleet.key("known"))).toBeLessThanOrEqual(LONGEST_SHARED_PAUSE_MS + WINDOW_MS);
    expect(await new Call(two, { maxPauses: 0 }).start()).toBe("refused");
    expect(pausedUntil(two)).toBeLessThanOrEqual(Date.now() + LONGEST_SHARED_PAUSE_MS + 1);
    expect(pausedUntil(one), "a process obeys its own").toBeGreaterThan(Date.now() + LONGEST_SHARED_PAUSE_MS * 10);
  });

  test("a pause that another process learnt without rate limit headers is known here", async () => {
    await using fleet = await Fleet.start(kind);
    const [one, two] = [await fleet.join(), await fleet.join()];
    const call = new Call(one);
    expect(await call.start()).toBe("sent");
    const refusedAt = Date.now();
    call.end({ ...OK, status: 429, retryAfterMs: 60_000 });
    await fleet.rest();
    expect(two.limiter.snapshot(TOKEN, SERVICE)).toBeUndefined();
    expect(await new Call(two, { maxPauses: 0 }).start()).toBe("refused");
    expect(two.limiter.snapshot(TOKEN, SERVICE)).toEqual({
      observedAt: expect.any(Date),
      pausedUntil: expect.any(Date),
    });
    expect(pausedUntil(two)).toBeGreaterThan(refusedAt + 50_000);
  });

  test("a client tells the pause of another process, and shows it, although no response said what is left", async ({
    expect,
  }) => {
    await using fleet = await Fleet.start(kind);
    const [one, two] = [await fleet.join(), await fleet.join({ leaseMs })];
    const call = new Call(one);
    expect(await call.start()).toBe("sent");
    const refusedAt = Date.now();
    call.end({ ...OK, status: 429, retryAfterMs: 60_000 });
    await fleet.rest();
    const told: ClientEvent[] = [];
    const service = scriptedFetch();
    const client = service.client({
      token: TOKEN,
      rateLimiter: two.limiter,
      onEvent: (event) => void (event.type.startsWith("rate_limit") && told.push(event)),
    });
    expect(client.rateLimit).toBeUndefined();
    const abort = new AbortController();
    const waiting = client.request({ method: "GET", path: path`/projects` }, { signal: abort.signal });
    waiting.catch(() => {});
    await expect.poll(() => told.length).toBeGreaterThan(0);
    expect(told).toMatchObject([{ type: "rate_limit_pause", delayMs: expect.any(Number) }]);
    expect(client.rateLimit?.pausedUntil?.getTime()).toBeGreaterThan(refusedAt + 50_000);
    expect(client.rateLimit).not.toHaveProperty("remaining");
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ kind: "abort", outcome: "not_sent" });
    expect(service.sent).toEqual([]);
  });

  test("a pause that begins here while Redis replies slowly is obeyed by a call that Redis admits", async () => {
    await using fleet = await Fleet.start(kind);
    const one = await fleet.join();
    const first = new Call(one);
    expect(await first.start()).toBe("sent");
    fleet.redis.freeze();
    const second = new Call(one);
    const sent = second.start();
    await setImmediate(); // Redis is asked
    first.end(refused(60_000));
    fleet.redis.thaw();
    await fleet.rest();
    expect(await fleet.leases(), "the slot that it was granted is free for others").toEqual([]);
    second.abort.abort();
    expect(await sent).toBe("stopped");
  });

  test("a pause that begins here while a slot is confirmed is obeyed", async ({ expect }) => {
    await using fleet = await Fleet.start(kind);
    const one = await fleet.join();
    const [first, second] = [new Call(one), new Call(one)];
    expect(await first.start()).toBe("sent");
    expect(await second.turn.acquire(TOKEN)).toMatchObject({ kind: "admitted" });
    await sleep(PAST_RECHECK_MS);
    fleet.redis.freeze();
    const sent = second.start();
    await setImmediate(); // Redis is asked
    first.end(refused(60_000));
    fleet.redis.thaw();
    await fleet.rest();
    expect(await fleet.leases()).toEqual([]);
    second.abort.abort();
    expect(await sent).toBe("stopped");
  });

  test("an absurd pause that is in Redis already is cut to the longest shared pause", async () => {
    await using fleet = await Fleet.start(kind);
    const one = await fleet.join();
    await pauseBy(one, 60_000);
    await fleet.rest();
    await fleet.admin.hset(await fleet.key("known"), "until", AN_AGE_MS, "askedUntil", AN_AGE_MS);
    const two = await fleet.join();
    expect(await new Call(two, { maxPauses: 0 }).start()).toBe("refused");
    expect(pausedUntil(two)).toBeLessThanOrEqual(Date.now() + LONGEST_SHARED_PAUSE_MS + 1);
  });

  test("a pause survives FLUSHALL while a call waits for it", async ({ expect }) => {
    await using fleet = await Fleet.start(kind);
    const one = await fleet.join({ leaseMs });
    const waiting = (await pauseBy(one, 60_000)).start();
    await fleet.rest();
    await fleet.admin.flushall();
    await expect.poll(() => fleet.key("known")).not.toBe("");
    expect(await new Call(await fleet.join(), { maxPauses: 0 }).start()).toBe("refused");
    expect(await Promise.race([waiting, Promise.resolve("waits")])).toBe("waits");
    expect(one.events).toEqual([]);
  });

  test("a pause survives a restart of Redis while a call waits for it", async ({ expect }) => {
    await using fleet = await Fleet.start(kind);
    const one = await fleet.join({ leaseMs, commandTimeoutMs: 250 });
    const waiting = (await pauseBy(one, 60_000)).start();
    await fleet.rest();
    await fleet.redis.kill();
    await fleet.redis.start();
    await expect.poll(() => fleet.key("known")).not.toBe("");
    expect(await new Call(await fleet.join(), { maxPauses: 0 }).start()).toBe("refused");
    expect(await Promise.race([waiting, Promise.resolve("waits")])).toBe("waits");
  });

  test("a request that goes ahead and hangs holds back the other processes for a bounded time", async ({ expect }) => {
    await using fleet = await Fleet.start(kind);
    const [one, two] = [await fleet.join(), await fleet.join()];
    const hanging = await pauseBy(one, 1);
    expect(await hanging.start()).toBe("sent");
    const [hung] = await fleet.leases();
    expect(hung).toBeDefined();
    const next = new Call(two);
    expect(await next.start()).toBe("sent");
    await expect.poll(() => fleet.leases(), { message: "it is not renewed for ever" }).not.toContain(hung);
    next.end(left(9));
    // The gate is open again, although the first one still hangs.
    expect(await new Call(one).start()).toBe("sent");
    expect(await new Call(two).start()).toBe("sent");
  });
});
