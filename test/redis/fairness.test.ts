/** What is left is shared in order of asking, judged on the log of who was sent. */
import { setTimeout } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { REPORT, TAKE } from "../../src/redis/scripts.ts";
import { SKIPS_REDIS } from "../support/redis-server.ts";
import { Call, Fleet, left, type Member } from "./limiter.ts";

const CALLS_EACH = 30;
const RESPONSE_MS = 4;

/** Makes so many calls at once in each process. Returns the places of those that were sent, in order. */
async function send(members: readonly Member[], remaining: number): Promise<readonly number[]> {
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
  return log;
}

describe.skipIf(SKIPS_REDIS)("at a constant RateLimit-Remaining", { concurrent: true }, () => {
  test.each([0, 1])("of %i every process gets the same share, in turn", async (remaining) => {
    await using fleet = await Fleet.start("ioredis");
    const members = await Promise.all(Array.from({ length: 4 }, () => fleet.join()));
    const sent = await send(members, remaining);
    // Nothing is known of what is left before the first responses, and at last not all have calls left.
    const lasts = members.map((_, index) => sent.lastIndexOf(index));
    const log = sent.slice(members.length * 10, Math.min(...lasts) + 1);
    const counts = members.map((_, index) => log.filter((one) => one === index).length);
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(Math.max(...counts) - 2);
    expect(Math.min(...counts)).toBeGreaterThan(5);
    // One at a time: no process is sent again before each other that waits has had its turn.
    for (const [at, index] of log.entries()) {
      const next = log.indexOf(index, at + 1);
      if (next > 0) expect(new Set(log.slice(at, next)).size, `from ${at} to ${next}`).toBe(members.length);
    }
  });

  test("of a million no process waits for another: two commands a request, as of one alone", async () => {
    await using fleet = await Fleet.start("ioredis");
    // Leases are renewed after a third of this: on a busy machine, too, not before the end.
    const members = await Promise.all(Array.from({ length: 3 }, () => fleet.join({ leaseMs: 600_000 })));
    const [first] = members;
    const scout = first && new Call(first);
    await scout?.start();
    scout?.end(left(1_000_000));
    await fleet.rest();
    const before = await fleet.scriptsRun();
    const log = await send(members, 1_000_000);
    await fleet.rest();
    expect((await fleet.scriptsRun()) - before).toBe(2 * log.length);
  });
});

/** A process asks, and waits for more than one slot or not; or the oldest request ends. */
type Step = { readonly process: string; readonly waitsForMore: boolean } | "end";

interface Command {
  readonly script: string;
  readonly process: string;
  readonly args: readonly string[];
  /** What Redis has to reply. */
  readonly outcome: "done" | "granted" | "full";
  /** Of a process that asks: how many wait before it. */
  readonly ahead: number;
}

function report(args: readonly string[]): Command {
  return { script: REPORT, process: "service", args, outcome: "done", ahead: 0 };
}

/** The commands of a schedule. A process goes where there is room for it and for each process before it. */
function planned(room: number, steps: readonly Step[]): readonly Command[] {
  const commands = [report(["service:0", "passed", "0", "0", "0", "0", String(room), ""])];
  const inFlight: string[] = [];
  let waiting: readonly string[] = [];
  for (const step of steps) {
    if (step === "end") {
      const slot = inFlight.shift();
      if (slot !== undefined) commands.push(report([slot, "left", "0", "0", "0", "0", "", ""]));
      continue;
    }
    const { process, waitsForMore } = step;
    const place = waiting.indexOf(process);
    const ahead = place < 0 ? waiting.length : place;
    const goes = inFlight.length + ahead < room;
    const slot = `${process}:${commands.length}`;
    const args = [slot, "5000", waitsForMore ? "1" : "0"];
    commands.push({ script: TAKE, process, args, outcome: goes ? "granted" : "full", ahead });
    if (goes) {
      inFlight.push(slot);
      waiting = waiting.filter((other) => other !== process);
    }
    if (goes ? waitsForMore : place < 0) waiting = [...waiting, process];
  }
  return commands;
}

/** A process that waits is served once as many requests have ended as there were processes before it, and one more. */
function expectTurns(commands: readonly Command[], outcomes: readonly unknown[]): void {
  const endsLeft = new Map<string, number>();
  for (const [at, { script, process, ahead }] of commands.entries()) {
    if (script === REPORT) for (const [name, ends] of endsLeft) endsLeft.set(name, ends - 1);
    else if (outcomes[at] === "granted") endsLeft.delete(process);
    else {
      const left = endsLeft.get(process) ?? ahead + 1;
      expect(left, `the turn of ${process}`).toBeGreaterThan(0);
      endsLeft.set(process, left);
    }
  }
}

describe.skipIf(SKIPS_REDIS)("whatever process asks, and however often", () => {
  const process = fc.constantFrom("a", "b", "c", "d", "e");
  const step = fc.oneof(fc.record({ process, waitsForMore: fc.boolean() }), fc.constant("end" as const));
  const steps = fc.array(step, { minLength: 40, maxLength: 80 });

  test("a process goes where there is room for it and for each process before it, so none loses its turn", async () => {
    await using fleet = await Fleet.start("ioredis");
    const keys = ["known", "slots", "queue", "seen"];
    const check = async (room: number, schedule: readonly Step[]): Promise<void> => {
      await fleet.admin.flushall();
      const commands = planned(room, schedule);
      // All are sent together: a place lasts for a second.
      const sent = fleet.admin.pipeline();
      for (const { script, process, args } of commands) {
        sent.eval(script, keys.length, ...keys, "0", "0", process, "0", "0", "", ...args);
      }
      const results = (await sent.exec()) ?? [];
      const outcomes = results.map(([error, reply]) => error ?? (reply as unknown[])[0]); // or it is an error
      expectTurns(commands, outcomes);
      expect(outcomes).toEqual(commands.map(({ outcome }) => outcome));
    };
    await fc.assert(fc.asyncProperty(fc.integer({ min: 1, max: 7 }), steps, check), { numRuns: 40 });
  });
});
