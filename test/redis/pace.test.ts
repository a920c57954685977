/** The width and the distance after a pause are those of all processes together, where no response says what is left. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { narrowed, type Pace, paceAt, UNPACED, widened } from "../../src/core/rate-limit/pace.ts";
import type { RateLimitHead } from "../../src/core/rate-limit/rate-limiter.ts";
import { shareOf } from "../support/all-tests.ts";
import type { ClientKind } from "../support/redis-clients.ts";
import { SKIPS_REDIS } from "../support/redis-server.ts";
import { Call, Fleet, OK } from "./limiter.ts";

/** As a proxy refuses. */
const REFUSED: RateLimitHead = { ...OK, status: 429, retryAfterMs: 1 };

/** A field that Redis knows of the token. */
async function known(fleet: Fleet, field: string): Promise<number> {
  return Number(await fleet.admin.hget(await fleet.key("known"), field));
}

async function paceOf(fleet: Fleet): Promise<Pick<Pace, "width" | "widest" | "passed">> {
  const fields = ["width", "widest", "passed"].map((field) => known(fleet, field));
  const [width = 0, widest = 0, passed = 0] = await Promise.all(fields);
  return { width, widest: widest || Number.POSITIVE_INFINITY, passed };
}

describe.skipIf(SKIPS_REDIS)("two processes keep the pace that one process keeps", () => {
  /** How many more are begun, and which of those in flight end, from the oldest on: `true` gets through. */
  const steps = fc.array(
    fc.record({ begun: fc.integer({ min: 1, max: 3 }), ends: fc.array(fc.boolean(), { minLength: 1, maxLength: 3 }) }),
    { minLength: 12, maxLength: 12 },
  );

  test("whatever gets through and whatever is refused", async ({ expect }) => {
    await using fleet = await Fleet.start("ioredis");
    const check = async (script: readonly { begun: number; ends: readonly boolean[] }[]): Promise<void> => {
      await fleet.admin.flushall();
      const members = [await fleet.join(), await fleet.join()];
      let [model, mustProbe, begun]: [Pace, boolean, number] = [UNPACED, false, 0];
      const inFlight: { call: Call; sentAt: number; isCurrent: boolean }[] = [];
      for (const step of script) {
        const room = mustProbe ? 1 : Math.min(model.width, 3);
        for (let more = 0; more < step.begun && inFlight.length < room; more += 1) {
          begun += 1;
          const call = new Call(members[begun % 2] ?? expect.fail());
          expect(await call.start()).toBe("sent");
          inFlight.push({ call, sentAt: await known(fleet, "sentAt"), isCurrent: true });
        }
        for (const passes of step.ends) {
          const size = inFlight.length;
          const one = inFlight.shift();
          if (one === undefined) break;
          one.call.end(passes ? OK : REFUSED);
          await fleet.rest();
          if (!one.isCurrent) continue;
          if (passes) {
            model = widened(paceAt(model, one.sentAt), one.sentAt);
            mustProbe = false;
          } else {
            const at = await known(fleet, "pacedAt");
            model = narrowed(model, { at, sentAt: one.sentAt, inFlight: size, pauseMs: 0 });
            mustProbe = true;
            for (const other of inFlight) other.isCurrent = false;
          }
          if (model === UNPACED) continue;
          const { width, widest, passed } = model;
          expect(await paceOf(fleet)).toEqual({ width, widest, passed });
        }
        if (mustProbe) for (const { call } of inFlight.splice(0)) call.turn.release();
      }
      for (const { call } of inFlight) call.turn.release();
    };
    await fc.assert(fc.asyncProperty(steps, check), { numRuns: shareOf(5) });
  });

  test("a distance that one of them finds, of what the other one has sent, too", async ({ expect }) => {
    await using fleet = await Fleet.start("ioredis");
    const members = [await fleet.join(), await fleet.join()];
    const calls = [REFUSED, REFUSED, OK, REFUSED].map((head, at) => ({
      head,
      member: members[at % 2] ?? expect.fail(),
    }));
    for (const { head, member } of calls) {
      const call = new Call(member);
      expect(await call.start()).toBe("sent");
      call.end(head);
      await fleet.rest();
    }
    expect(await known(fleet, "distance")).toBeGreaterThan(0);
    expect(await known(fleet, "distance")).toBeLessThanOrEqual(1_000);
  });

  test.for([0, 2e15])("a distance that is kept until %d, after one that got through", async (keptUntil, { expect }) => {
    await using fleet = await Fleet.start("ioredis");
    const call = new Call(await fleet.join());
    for (const head of [REFUSED, OK]) {
      await call.start();
      call.end(head);
      await fleet.rest();
    }
    const pace = { width: 1, widest: 1, passed: 1, passedAt: 0, pausedAt: 0, distanceMs: 40, keptUntil };
    await fleet.admin.hset(await fleet.key("known"), { width: 1, widest: 1, passed: 1, distance: 40, keptUntil });
    await call.start();
    const sentAt = await known(fleet, "sentAt");
    call.end(OK);
    await fleet.rest();
    const { distanceMs, passedAt } = widened(pace, sentAt);
    expect(await known(fleet, "distance")).toBeCloseTo(distanceMs, 6);
    expect(await known(fleet, "passedAt")).toBe(passedAt);
  });

  test("each request of many at once that gets through, and a slow one takes nothing back", async ({ expect }) => {
    await using fleet = await Fleet.start("ioredis");
    const members = await Promise.all(Array.from({ length: 9 }, async () => await fleet.join()));
    const [slow = expect.fail(), ...others] = members.map((member) => new Call(member));
    for (const head of [REFUSED, OK]) {
      await slow.start();
      slow.end(head);
      await fleet.rest();
    }
    await slow.start();
    for (const begun of [1, 2, 4, 8]) {
      const calls = others.slice(0, begun);
      for (const call of calls) expect(await call.start()).toBe("sent");
      for (const call of calls) call.end(OK);
      await fleet.rest();
      expect(await known(fleet, "width")).toBe(2 * begun + 1);
    }
    slow.end(OK);
    await fleet.rest();
    expect(await known(fleet, "width")).toBe(18);
  });
});

describe.skipIf(SKIPS_REDIS).each<ClientKind>(["ioredis", "redis"])("with %s", { concurrent: true }, (kind) => {
  test("after a pause two go at once in the whole fleet, then as many as got through", async ({ expect }) => {
    await using fleet = await Fleet.start(kind);
    const members = [await fleet.join(), await fleet.join(), await fleet.join()];
    const [scout] = members.map((member) => new Call(member));
    await scout?.start();
    scout?.end(REFUSED);
    await fleet.rest();
    await scout?.start();
    scout?.end(OK);
    await fleet.rest();

    const calls = [...members, ...members].map((member) => new Call(member));
    const sent: Call[] = [];
    const starts = calls.map(async (call) => {
      expect(await call.start()).toBe("sent");
      sent.push(call);
    });
    for (const width of [2, 3]) {
      // Of those before, one has ended.
      await expect.poll(() => sent.length).toBe(2 * (width - 1));
      // The next of each process has asked, and is not admitted. None is in flight for so long that it counts as stalled.
      await fleet.rest();
      expect(await fleet.leases()).toHaveLength(width);
      sent[width - 2]?.end(OK);
    }
    await Promise.all(starts);
    expect(await fleet.leases()).toHaveLength(4);
  });

  test("all processes together keep one distance", async () => {
    await using fleet = await Fleet.start(kind);
    const members = [await fleet.join(), await fleet.join(), await fleet.join()];
    const [first] = members.map((member) => new Call(member));
    await first?.start();
    first?.end(REFUSED);
    await fleet.rest();
    await first?.start();
    first?.end(OK);
    await fleet.rest();
    // As a fleet knows that was refused one by one.
    const distance = 120;
    await fleet.admin.hset(await fleet.key("known"), "distance", distance, "keptUntil", 2e15, "widest", 1, "width", 1);
    const sentAt: number[] = [];
    const work = members.map(async (member) => {
      for (let count = 0; count < 3; count += 1) {
        const call = new Call(member);
        expect(await call.start()).toBe("sent");
        sentAt.push(await known(fleet, "sentAt"));
        call.end(OK);
        await fleet.rest();
      }
    });
    await Promise.all(work);
    sentAt.sort((one, other) => one - other);
    expect(new Set(sentAt).size).toBe(9);
    const gaps = sentAt.slice(1).map((at, index) => at - (sentAt[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(distance - 1);
  });
});
