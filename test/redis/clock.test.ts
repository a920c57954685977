/** The clock of Redis goes back: it was set right, or a replica whose clock is behind took over. */
import { describe, expect, test } from "vitest";
import { SKIPS_REDIS } from "../support/redis-server.ts";
import { Call, Fleet, left, refused, SERVICE, TOKEN } from "./limiter.ts";

const BACK_MS = 300_000;
const TIMES_KNOWN = ["until", "askedUntil", "pausedAt", "since", "observedAt", "pacedAt", "passedAt", "sentAt"];
/** As the guide states them. */
const LONGEST_LEASE_MS = 5_000;
const PLACE_MS = 1_000;

/** Moves every time that Redis keeps into the future, all in one step: what a clock that goes back does to them. */
const CLOCK_BACK = `
local back = tonumber(ARGV[1])
for _, key in ipairs(redis.call('KEYS', '*')) do
  local lasts = redis.call('PTTL', key)
  if key:match(':known$') then
    for field = 2, #ARGV do
      local time = tonumber(redis.call('HGET', key, ARGV[field]) or 0)
      if time > 0 then redis.call('HSET', key, ARGV[field], time + back) end
    end
  else
    local by = key:match(':queue$') and back * 1000 or back -- the queue is in microseconds
    for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do redis.call('ZINCRBY', key, by, member) end
  end
  redis.call('PEXPIRE', key, lasts + back)
end`;

async function setClockBack({ admin }: Fleet): Promise<void> {
  await admin.eval(CLOCK_BACK, 0, BACK_MS, ...TIMES_KNOWN);
}

async function send(call: Call): Promise<void> {
  expect(await call.start()).toBe("sent");
}

describe.skipIf(SKIPS_REDIS)("when the clock of Redis goes back", { concurrent: true }, () => {
  test("neither the slots nor the places of processes that have died hold back the others", async ({ expect }) => {
    await using fleet = await Fleet.start("ioredis");
    const [holding, waiting, living] = [await fleet.join(), await fleet.join(), await fleet.join()];
    const scout = new Call(holding);
    await send(scout);
    scout.end(left(1));
    await fleet.rest();
    await send(scout);
    void new Call(waiting).start();
    await fleet.rest();
    await expect.poll(() => fleet.key("queue")).not.toBe("");
    await setClockBack(fleet);
    for (const { connected } of [holding, waiting]) connected.cut();
    const call = new Call(living);
    await send(call);
    call.end(left(1));
    await fleet.rest();
    // Its own requests are shared as before.
    await send(call);
    void new Call(await fleet.join()).start();
    await fleet.rest();
    expect(await fleet.leases()).toHaveLength(1);
    expect(await fleet.admin.pttl(await fleet.key("slots"))).toBeLessThanOrEqual(LONGEST_LEASE_MS);
    expect(await fleet.admin.pttl(await fleet.key("queue"))).toBeLessThanOrEqual(PLACE_MS);
  });

  test("the probe of a process that has died holds back nobody", async () => {
    await using fleet = await Fleet.start("ioredis");
    const [probing, living] = [await fleet.join(), await fleet.join()];
    const probe = new Call(probing);
    await send(probe);
    probe.end(refused(1));
    await send(probe);
    await fleet.rest();
    await setClockBack(fleet);
    await fleet.admin.hset(await fleet.key("known"), "until", 0, "askedUntil", 0);
    probing.connected.cut();
    await send(new Call(living));
  });

  test("a process that waits is served in its turn", async ({ expect }) => {
    await using fleet = await Fleet.start("ioredis");
    const [holding, first] = [await fleet.join(), await fleet.join()];
    const held = new Call(holding);
    await send(held);
    held.end(left(1));
    await fleet.rest();
    await send(held);
    const start = new Call(first).start();
    await fleet.rest();
    await expect.poll(() => fleet.key("queue")).not.toBe("");
    await setClockBack(fleet);
    held.end(left(1));
    expect(await start).toBe("sent");
  });

  test("what the service said before says nothing, and what it says next counts", async () => {
    await using fleet = await Fleet.start("ioredis");
    const [one, two] = [await fleet.join(), await fleet.join()];
    const scout = new Call(one);
    await send(scout);
    scout.end(left(1));
    await fleet.rest();
    await setClockBack(fleet);
    const calls = [new Call(two), new Call(two)];
    for (const call of calls) await send(call);
    calls[0]?.end(left(9));
    await fleet.rest();
    const known = await fleet.admin.hgetall(await fleet.key("known"));
    const now = Number((await fleet.admin.time())[0]) * 1_000;
    expect(known).toMatchObject({ remaining: "9" });
    expect(Math.max(Number(known["since"]), Number(known["observedAt"]))).toBeLessThan(now + BACK_MS / 2);
    expect(one.limiter.snapshot(TOKEN, SERVICE)?.remaining).toBe(1);
    await send(new Call(one));
    expect(one.limiter.snapshot(TOKEN, SERVICE)?.remaining).toBe(9);
  });

  test("a pause that is over does not come back", async () => {
    await using fleet = await Fleet.start("ioredis");
    const [one, other] = [await fleet.join(), await fleet.join()];
    const call = new Call(one);
    await send(call);
    call.end(refused(1));
    await send(call);
    call.end(left(9));
    await fleet.rest();
    await setClockBack(fleet);
    const [known, unknown] = [new Call(one, { maxPauses: 0 }), new Call(other, { maxPauses: 0 })];
    await send(unknown);
    await send(known);
  });

  test("a pause that runs ends when it was to end, as long as a process knows of it", async ({ expect }) => {
    await using fleet = await Fleet.start("ioredis");
    const PAUSE_MS = 60_000;
    const [one, other] = [await fleet.join({ leaseMs: 500 }), await fleet.join()];
    const call = new Call(one);
    await send(call);
    call.end(refused(PAUSE_MS));
    await fleet.rest();
    void call.start();
    await setClockBack(fleet);
    const lastsMs = async (): Promise<number> => {
      const [seconds = 0] = await fleet.admin.time();
      return Number(await fleet.admin.hget(await fleet.key("known"), "until")) - Number(seconds) * 1_000;
    };
    await expect.poll(lastsMs).toBeLessThan(2 * PAUSE_MS);
    expect(await lastsMs()).toBeGreaterThan(PAUSE_MS / 2);
    expect(await new Call(other, { maxPauses: 0 }).start()).toBe("refused");
    const pausedUntil = other.limiter.snapshot(TOKEN, SERVICE)?.pausedUntil?.getTime() ?? 0;
    expect(pausedUntil).toBeLessThan(Date.now() + 2 * PAUSE_MS);
    call.abort.abort();
  });
});
