import { getEventListeners } from "node:events";
import { describe, expect, test, vi } from "vitest";
import { Deadline, STOPPED } from "../../../../src/core/time/deadline.ts";
import { ended, fakeNow, fakeTime, pass, watch } from "../../../support/fake-time.ts";

fakeTime();

const FOREVER = Number.POSITIVE_INFINITY;
const pending = (): Promise<never> => new Promise(() => {});

describe("what ends a deadline is its reason", () => {
  test("its limit, at the very millisecond", async () => {
    const deadline = Deadline.of(30_000);
    await pass(29_999);
    expect([deadline.reason, deadline.leftMs]).toEqual([undefined, 1]);
    await pass(1);
    expect([deadline.reason, deadline.leftMs]).toEqual(["total", 0]);
  });

  test("the limit of an attempt within it", async () => {
    const call = Deadline.of(FOREVER);
    const attempt = call.within(1_000);
    await pass(1_000);
    expect([attempt.reason, call.reason]).toEqual(["attempt", undefined]);
  });

  test("the deadline around it, with that one's reason", async () => {
    const call = Deadline.of(500);
    const attempt = call.within(1_000);
    await pass(500);
    expect([attempt.reason, call.reason]).toEqual(["total", "total"]);
    expect(call.within(1_000).reason).toBe("total");
  });

  test("a signal, whose reason is that of its own signal and of those within", () => {
    const controller = new AbortController();
    const call = Deadline.of(FOREVER, controller.signal);
    const attempt = call.within(1_000);
    expect(attempt.signal.aborted).toBe(false);
    controller.abort("enough");
    expect([call.reason, attempt.reason]).toEqual(["abort", "abort"]);
    expect([call.signal.reason, attempt.signal.reason]).toEqual(["enough", "enough"]);
  });

  test("end(), and nothing after that", async () => {
    const outer = Deadline.of(FOREVER);
    const inner = Deadline.of(1_000, outer.signal);
    outer.end();
    await pass(2_000);
    expect([outer.reason, inner.reason]).toEqual(["abort", "abort"]);
  });

  test("a signal that has aborted already", () => {
    const deadline = Deadline.of(1_000, AbortSignal.abort("before"));
    expect([deadline.reason, deadline.signal.reason]).toEqual(["abort", "before"]);
  });
});

describe("endsNow", () => {
  test("ends nothing before its time is over", async () => {
    const deadline = Deadline.of(1_000);
    await pass(999);
    expect([deadline.endsNow(), deadline.reason]).toEqual([false, undefined]);
    deadline.release();
  });

  test.each([
    [2_000, 1_000, "total"],
    [1_000, 2_000, "attempt"],
  ] as const)("ends an attempt of %d ms in a call of %d ms by the limit that is over", (attemptMs, totalMs, reason) => {
    const call = Deadline.of(totalMs);
    const attempt = call.within(attemptMs);
    vi.spyOn(performance, "now").mockReturnValue(fakeNow() + 1_500);
    expect([attempt.endsNow(), attempt.reason, attempt.signal.aborted]).toEqual([true, reason, true]);
    call.release();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("keeps the reason of what has ended", () => {
    const deadline = Deadline.of(0, AbortSignal.abort());
    expect([deadline.endsNow(), deadline.reason]).toEqual([true, "abort"]);
  });
});

describe("deadlines around it", () => {
  test("each of them ends it, with its own reason; the earliest says when", async () => {
    const [wait, walk] = [Deadline.of(500), Deadline.of(FOREVER)];
    const call = Deadline.of(1_000, walk, undefined, wait);
    expect([call.endsAt, vi.getTimerCount()]).toEqual([wait.endsAt, 1]);
    await pass(500);
    expect([call.reason, walk.reason]).toEqual(["total", undefined]);
    const other = Deadline.of(FOREVER, walk);
    walk.end();
    expect(other.reason).toBe("abort");
  });
});

describe("race", () => {
  test("settles as the work does", async () => {
    const deadline = Deadline.of(1_000);
    expect(await deadline.race(Promise.resolve("done"))).toBe("done");
    await expect(deadline.race(Promise.reject("failed"))).rejects.toBe("failed");
    deadline.release();
  });

  test("many at once are all stopped", async () => {
    const deadline = Deadline.of(1_000);
    const races = watch([deadline.race(pending()), deadline.race(pending()), deadline.within(5_000).race(pending())]);
    await pass(1_000);
    expect((await races).map(({ error, tookMs }) => [error, tookMs])).toEqual(Array(3).fill([STOPPED, 1_000]));
  });

  test("work that heeds the signal and fails with an error of its own is stopped all the same", async () => {
    const deadline = Deadline.of(1_000);
    const { signal } = deadline;
    const work = new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    expect((await ended(deadline.race(work))).error).toBe(STOPPED);
  });

  test("after the end it is stopped at once, and what the work rejects with goes nowhere", async () => {
    const deadline = Deadline.of(FOREVER, AbortSignal.abort());
    await expect(deadline.race(Promise.reject(new Error("late")))).rejects.toBe(STOPPED);
  });
});

describe("sleep", () => {
  test("takes just so long", async () => {
    const deadline = Deadline.of(5_000);
    expect((await ended(deadline.sleep(3_000))).tookMs).toBe(3_000);
    deadline.release();
  });

  test("is stopped with the deadline, and leaves no timer", async () => {
    const { error, tookMs } = await ended(Deadline.of(5_000).sleep(60_000));
    expect([error, tookMs, vi.getTimerCount()]).toEqual([STOPPED, 5_000, 0]);
  });
});

describe("release", () => {
  test("frees the timer and the listeners, and ends nothing", async () => {
    const { signal } = new AbortController();
    const deadline = Deadline.of(1_000, signal);
    const attempt = deadline.within(500);
    expect([vi.getTimerCount(), getEventListeners(signal, "abort").length]).toEqual([2, 1]);
    attempt.release();
    deadline.release();
    expect([vi.getTimerCount(), getEventListeners(signal, "abort").length]).toEqual([0, 0]);
    await pass(2_000);
    expect([deadline.reason, attempt.reason]).toEqual([undefined, undefined]);
  });

  test("one that does not end before the deadline around it has no timer of its own", async () => {
    const call = Deadline.of(1_000);
    const attempt = call.within(30_000);
    expect([vi.getTimerCount(), attempt.endsAt]).toEqual([1, call.endsAt]);
    await pass(1_000);
    expect([attempt.reason, vi.getTimerCount()]).toEqual(["total", 0]);
  });

  test("a thousand deadlines of one signal have one listener on it", () => {
    const { signal } = new AbortController();
    const deadlines = Array.from({ length: 1_000 }, () => Deadline.of(FOREVER, signal));
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    for (const deadline of deadlines) deadline.release();
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});

describe("a signal that throws", () => {
  const fail = (): never => {
    throw new Error("mine");
  };

  test.each([
    ["when it is asked", Object.defineProperty({}, "aborted", { get: fail })],
    ["when it is listened to", { aborted: false, addEventListener: fail, removeEventListener: () => {} }],
    ["since it has no functions", { aborted: false, addEventListener: 1, removeEventListener: 2 }],
  ])("%s: no deadline, no timer, also the second time", (_, signal) => {
    for (let time = 0; time < 2; time += 1) {
      expect(() => Deadline.of(1_000, signal as AbortSignal)).toThrow();
      expect(vi.getTimerCount()).toBe(0);
    }
  });
});
