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
