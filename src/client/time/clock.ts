/** The longest delay a platform timer can hold; anything longer would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Milliseconds on the monotonic clock: durations and deadlines are measured here, so wall-clock jumps move nothing. */
export function now(): number {
  return performance.now();
}

/** Platforms round times down, so a timer may fire up to so many milliseconds early. */
const MAX_EARLY_MS = 1;

/**
 * Runs `action` once, `delayMs` from now and never earlier; any delay is safe, and `Infinity` never fires.
 * Returns what cancels it. The only caller of `setTimeout` in the client, looked up at each call.
 */
export function after(delayMs: number, action: () => void): () => void {
  if (delayMs === Number.POSITIVE_INFINITY) return () => {};
  const endsAt = now() + delayMs;
  let left = Math.max(0, Math.ceil(delayMs));
  let timer: ReturnType<typeof setTimeout>;
  const arm = (): void => {
    const step = Math.min(left, MAX_TIMER_MS);
    left -= step;
    timer = setTimeout(left > 0 ? arm : finish, step);
  };
  const finish = (): void => {
    const early = endsAt - now();
    // Fake timers may leave the clock alone, which then says that nearly all the time is left: the timer is right.
    if (early > 0 && early < MAX_EARLY_MS) timer = setTimeout(action, MAX_EARLY_MS + 1);
    else action();
  };
  arm();
  return () => clearTimeout(timer);
}

/**
 * Resolves when the platform has had a turn: what was begun before is then under way, even if the caller goes on to
 * keep the thread busy. Takes microseconds. Not by a timer, which takes a millisecond at least.
 */
export function platformTurn(): Promise<void> {
  if (typeof MessageChannel === "undefined") return Promise.resolve();
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}

// Waits have a random part, so that those who were stopped together do not come back together. Which way it goes depends on
// whose wait it is.

const MAX_ADDED_MS = 1_000;

/** A wait that the service asked for: only ever longer, by up to `part` of it and at most a second. `random` is in [0, 1). */
export function lengthened(waitMs: number, part: number, random: number): number {
  return waitMs + random * Math.min(MAX_ADDED_MS, waitMs * part);
}

/** A wait of our own choosing: only ever shorter, by up to `part` of it, so that its setting is the longest. */
export function shortened(waitMs: number, part: number, random: number): number {
  return waitMs * (1 - part * (1 - random));
}
