import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { after } from "../../../../src/client/time/clock.ts";

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
