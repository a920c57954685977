import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { after, limit } from "../../../../src/core/time/clock.ts";

const WITHOUT_CLOCK = ["setTimeout", "clearTimeout", "Date"] as const;

afterEach(() => void vi.useRealTimers());

describe("under fake timers", () => {
  beforeEach(() => void vi.useFakeTimers());

  test.each([0, 0.25, 1, 30_000, 2 ** 31, 2 ** 31 + 5])("%d ms end at that millisecond", async (ms) => {
    let isOver = false;
    after(ms, () => {
      isOver = true;
    });
    if (ms >= 1) await vi.advanceTimersByTimeAsync(ms - 1);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isOver).toBe(true);
  });

  test("Infinity sets no timer, and what was cancelled does not run", async () => {
    const ran: string[] = [];
    after(Number.POSITIVE_INFINITY, () => void ran.push("never"));
    expect(vi.getTimerCount()).toBe(0);
    after(10, () => void ran.push("cancelled"))();
    await vi.advanceTimersByTimeAsync(20);
    expect(ran).toEqual([]);
  });

  test("fake timers that leave performance.now alone are believed", async () => {
    vi.useRealTimers();
    vi.useFakeTimers({ toFake: [...WITHOUT_CLOCK] });
    let isOver = false;
    after(30_000, () => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(30_000);
    expect(isOver).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });
});

test.each([-1, -0.5, -(2 ** 31)])(
  "a moment that has passed (%d ms) comes at once, and the platform warns of nothing",
  async (ms) => {
    const set = vi.spyOn(globalThis, "setTimeout");
    onTestFinished(() => set.mockRestore());
    await new Promise<void>((resolve) => void after(ms, resolve));
    expect(set.mock.calls.map(([, delayMs]) => delayMs)).toEqual([0]);
  },
);

test("a timer that fires a fraction of a millisecond early does not end the wait", () => {
  let clock = 1_000;
  const timers: { run: () => void; ms: number }[] = [];
  vi.spyOn(performance, "now").mockImplementation(() => clock);
  vi.spyOn(globalThis, "setTimeout").mockImplementation(((run: () => void, ms: number) =>
    timers.push({ run, ms })) as never); // it is only called in this way
  let endedAt: number | undefined;
  after(50, () => {
    endedAt = clock;
  });
  clock += 49.4;
  timers.shift()?.run();
  expect(endedAt).toBeUndefined();
  const again = timers.shift();
  clock += (again?.ms ?? 0) - 0.6;
  again?.run();
  expect(endedAt).toBeGreaterThanOrEqual(1_050);
  vi.restoreAllMocks();
});

describe("a limit", () => {
  test.each([
    ["the clock", [...WITHOUT_CLOCK, "performance"] as const],
    ["no clock", WITHOUT_CLOCK],
    ["setTimeout alone", ["setTimeout", "clearTimeout"] as const],
  ])("is one timer, which fake timers with %s end", async (_, toFake) => {
    vi.useFakeTimers({ toFake: [...toFake] });
    let isOver = false;
    limit(30_000, () => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(29_999);
    expect([isOver, vi.getTimerCount()]).toEqual([false, 1]);
    await vi.advanceTimersByTimeAsync(1);
    expect([isOver, vi.getTimerCount()]).toEqual([true, 0]);
  });

  /** A limit of 50 ms whose timer fires so many milliseconds late, as in a process that stood still. */
  function limitThatFires(lateMs: number): {
    readonly isOver: () => boolean;
    readonly over: Promise<void>;
    cancel: () => void;
  } {
    const stood = vi.spyOn(performance, "now").mockReturnValue(1_000);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let isOver = false;
    let cancel = (): void => {};
    const over = new Promise<void>((resolve) => {
      cancel = limit(50, () => {
        isOver = true;
        resolve();
      });
    });
    stood.mockReturnValue(1_050 + lateMs);
    vi.advanceTimersByTime(50);
    stood.mockRestore();
    return { isOver: () => isOver, over, cancel };
  }

  test.each([-0.9, 0, 99])("that fires %d ms late ends at once", (lateMs) => {
    expect(limitThatFires(lateMs).isOver()).toBe(true);
  });

  test("that fires 100 ms late ends a moment later, by the platform's own timers", async () => {
    const { isOver, over } = limitThatFires(100);
    expect([isOver(), vi.getTimerCount()]).toEqual([false, 0]);
    await over;
  });

  test("that fires late does not end what is over by then, and leaves no timer", async () => {
    const before = process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
    const { isOver, cancel } = limitThatFires(33_000);
    cancel();
    expect(process.getActiveResourcesInfo().filter((resource) => resource === "Timeout")).toHaveLength(before);
    expect(isOver()).toBe(false);
  });
});
