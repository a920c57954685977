/** Fake time: it passes only when a test advances it. */
import { afterEach, beforeEach, expect, vi } from "vitest";

const realSetImmediate = globalThis.setImmediate;
const realNow: unknown = Reflect.get(performance, "now");

/** Milliseconds of the fake clock. On the real one, which judges a busy machine, `NaN`: no comparison holds for it. */
export function fakeNow(): number {
  return performance.now === realNow ? Number.NaN : performance.now();
}

/** Call it once in a file, or in a `describe`. After each test no timer may be left. */
export function fakeTime(): void {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date", "performance"] });
  });
  afterEach(() => {
    const left = vi.isFakeTimers() ? vi.getTimerCount() : 0;
    vi.useRealTimers();
    vi.restoreAllMocks();
    expect(left, "timers left behind").toBe(0);
  });
}

/** Lets everything settle that needs no timer. */
export async function settleDown(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await new Promise<void>((resolve) => realSetImmediate(resolve));
}

/** Lets that much time pass. */
export async function pass(ms: number): Promise<void> {
  await settleDown();
  await vi.advanceTimersByTimeAsync(ms);
  await settleDown();
}

/** The process stands still for so long, as one that was stopped does: the clock goes on, and timers fire late. */
export function standStill(ms: number): void {
  const before = performance.now.bind(performance);
  performance.now = () => before() + ms; // until the timers are real again
}

/** How a promise ended, and when. */
export interface Settled<Result> {
  readonly value: Result | undefined;
  /** What it rejected with; `undefined` if it resolved. */
  readonly error: unknown;
  /** How long it took. */
  readonly tookMs: number;
}

/** Lets time pass until the promise settles; fails when nothing is left that could settle it. */
export async function ended<Result>(promise: Promise<Result>): Promise<Settled<Result>> {
  const startedAt = performance.now();
  let settled: Settled<Result> | undefined;
  promise.then(
    (value) => {
      settled = { value, error: undefined, tookMs: performance.now() - startedAt };
    },
    (error: unknown) => {
      settled = { value: undefined, error, tookMs: performance.now() - startedAt };
    },
  );
  for (let steps = 0; steps < 100_000; steps += 1) {
    await settleDown();
    if (settled !== undefined) return settled;
    if (vi.getTimerCount() === 0) throw new Error("the promise hangs: it is not settled and no timer is pending");
    await vi.advanceTimersToNextTimerAsync();
  }
  throw new Error("the promise never settles");
}

/** How each promise ended; time must pass meanwhile: see `finish`. */
export function watch<Result>(promises: readonly Promise<Result>[]): Promise<readonly Settled<Result>[]> {
  return Promise.all(promises.map((promise) => settledAt(promise)));
}

/** Lets time pass until the promise, which does not reject, is settled. */
export async function finish<Result>(promise: Promise<Result>): Promise<Result> {
  const { value, error } = await ended(promise);
  if (error !== undefined) throw error;
  return value as Result; // it resolved
}

/** Lets time pass until all of them have ended. */
export function allEnded<Result>(promises: readonly Promise<Result>[]): Promise<readonly Settled<Result>[]> {
  return finish(watch(promises));
}

async function settledAt<Result>(promise: Promise<Result>): Promise<Settled<Result>> {
  const startedAt = performance.now();
  try {
    const value = await promise;
    return { value, error: undefined, tookMs: performance.now() - startedAt };
  } catch (error) {
    return { value: undefined, error, tookMs: performance.now() - startedAt };
  }
}
