import { stat } from "node:fs/promises";

const presentPlatform = () => ({
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  setImmediate: globalThis.setImmediate,
  clearImmediate: globalThis.clearImmediate,
  Date: globalThis.Date,
  now: performance.now.bind(performance),
  timeout: AbortSignal.timeout.bind(AbortSignal),
});

/** The platform's own timers and clocks, also while an exploration has replaced the global ones. */
export const platform: ReturnType<typeof presentPlatform> = presentPlatform();

/** Turns of the platform, by a file: many more than a timer of a millisecond needs. */
const TURNS = 1_000;

/**
 * Takes the platform's timers as they are: a test may have faked them when this file was loaded. Rejects if they are faked
 * now, since an exploration would wait for ever.
 */
export async function takePlatform(): Promise<void> {
  Object.assign(platform, presentPlatform());
  let fired = 0;
  platform.setTimeout(() => {
    fired += 1;
  }, 1);
  platform.setImmediate(() => {
    fired += 1;
  });
  for (let turn = 0; turn < TURNS && fired < 2; turn += 1) await stat(".");
  if (fired < 2)
    throw new Error(
      "the timers of this process are faked: turn them back on, as by vi.useRealTimers(), and start again",
    );
}

const MAX_TIMER_MS = 2 ** 31 - 1;

/** The work of a timer. */
export interface Task {
  readonly run: () => void;
  readonly delayMs: number;
  readonly repeats: boolean;
}

/** A timer of a program's own time, with the members of Node's. */
export class OwnTimer {
  readonly #time: OwnTime;
  readonly #id: number;
  readonly task: Task;
  due = 0;
  #isRef = true;

  constructor(time: OwnTime, { id, task }: { readonly id: number; readonly task: Task }) {
    this.#time = time;
    this.#id = id;
    this.task = task;
  }

  ref(): this {
    this.#isRef = true;
    return this;
  }

  unref(): this {
    this.#isRef = false;
    return this;
  }

  hasRef(): boolean {
    return this.#isRef;
  }

  refresh(): this {
    this.#time.start(this);
    return this;
  }

  close(): this {
    this.#time.stop(this);
    return this;
  }

  [Symbol.toPrimitive](): number {
    return this.#id;
  }
}

/**
 * The time of one start of a program: the platform's, and ahead of it by the jumps so far. Between jumps it runs on. A
 * timer fires when its time comes or is jumped to, each in a turn of its own.
 */
export class OwnTime {
  #aheadMs: number;
  #timers = new Set<OwnTimer>();
  #armed: ReturnType<typeof setTimeout> | undefined;
  #dueAtOnce: ReturnType<typeof setImmediate> | undefined;
  #hasEnded = false;
  #count = 0;
  /** Grows with each timer that is set, stopped or fired. */
  signs = 0;
  /** Called with each value that the function of a timer throws. */
  readonly #onError: (error: unknown) => void;

  constructor(aheadMs: number, onError: (error: unknown) => void) {
    this.#aheadMs = aheadMs;
    this.#onError = onError;
  }

  get aheadMs(): number {
    return this.#aheadMs;
  }

  /** As `performance.now()`. */
  now(): number {
    return platform.now() + this.#aheadMs;
  }

  /** As `Date.now()`. */
  date(): number {
    return platform.Date.now() + Math.round(this.#aheadMs);
  }

  set(task: Task): OwnTimer {
    this.#count += 1;
    const timer = new OwnTimer(this, { id: this.#count, task });
    this.start(timer);
    return timer;
  }

  start(timer: OwnTimer): void {
    const { delayMs } = timer.task;
    this.#timers.delete(timer);
    if (this.#hasEnded) return;
    timer.due = this.now() + (delayMs >= 1 && delayMs <= MAX_TIMER_MS ? delayMs : 1);
    this.#timers.add(timer);
    this.signs += 1;
    this.#arm();
  }

  stop(timer: OwnTimer): void {
    if (this.#timers.delete(timer)) this.signs += 1;
    this.#arm();
  }

  /** Stops the timer with this number, as `clearTimeout(Number(timer))` does. */
  stopById(id: number): void {
    for (const timer of this.#timers) if (Number(timer) === id) this.stop(timer);
  }

  /** The number of timers that are set. */
  get size(): number {
    return this.#timers.size;
  }

  /** True if a timer is set that keeps a process alive. */
  get isWaiting(): boolean {
    return [...this.#timers].some((timer) => timer.hasRef());
  }

  /** Goes to the next timer. */
  jump(): void {
    const next = this.#next();
    if (next === undefined) return;
    this.#aheadMs += Math.max(0, next.due - this.now());
    this.#arm();
  }

  /** Drops all timers; those that are set later never fire. */
  end(): void {
    this.#hasEnded = true;
    this.#timers.clear();
    this.#arm();
  }

  #next(): OwnTimer | undefined {
    let next: OwnTimer | undefined;
    for (const timer of this.#timers) if (next === undefined || timer.due < next.due) next = timer;
    return next;
  }

  #arm(): void {
    platform.clearTimeout(this.#armed);
    platform.clearImmediate(this.#dueAtOnce);
    const next = this.#next();
    if (next === undefined) return;
    const leftMs = next.due - this.now();
    if (leftMs <= 0) this.#dueAtOnce = platform.setImmediate(() => this.#fire());
    else this.#armed = platform.setTimeout(() => this.#fire(), leftMs);
  }

  #fire(): void {
    const next = this.#next();
    if (next !== undefined && next.due <= this.now()) {
      this.signs += 1;
      this.#timers.delete(next);
      if (next.task.repeats) this.start(next);
      try {
        next.task.run();
      } catch (error) {
        this.#onError(error);
      }
    }
    this.#arm();
  }
}
