/** The longest delay a platform timer can hold; anything longer would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Milliseconds on the monotonic clock: durations and deadlines are measured here, so wall-clock jumps move nothing. */
export function now(): number {
  return performance.now();
}

/** Platforms round times down, so a timer may fire up to so many milliseconds early. */
const MAX_EARLY_MS = 1;

/**
 * A wait: runs `action` once, `delayMs` from now and never earlier; any delay is safe, and `Infinity` never fires. Returns
 * what cancels it.
 */
export function after(delayMs: number, action: () => void): () => void {
  const endsAt = now() + delayMs;
  let cancel = startTimer(delayMs, () => {
    const early = endsAt - now();
    // Fake timers may leave the clock alone, which then says that nearly all the time is left: the timer is right.
    if (early > 0 && early < MAX_EARLY_MS) cancel = startTimer(MAX_EARLY_MS + 1, action);
    else action();
  });
  return () => cancel();
}

/** A limit that fires so late has measured the process, which was stopped, frozen or busy. */
const LATE_MS = 100;

/** The time in which the platform then delivers what has arrived: its threads read, decrypt and decompress it. */
const DELIVERY_MS = 1_000;

/** The platform's own timers, also where a test fakes the global ones later: what has arrived is delivered in real time. */
const { setTimeout: startPlatformTimer, clearTimeout: clearPlatformTimer } = globalThis;

/**
 * A limit of what others do: runs `action` once when `limitMs` are over. A limit that fires late has measured this process,
 * so `action` runs a moment later, unless what has arrived meanwhile leads to a cancel. Returns what cancels it.
 */
export function limit(limitMs: number, action: () => void): () => void {
  const endsAt = now() + limitMs;
  let cancel = startTimer(limitMs, () => {
    if (now() - endsAt < LATE_MS) return action();
    const timer = startPlatformTimer(action, DELIVERY_MS);
    cancel = () => clearPlatformTimer(timer);
  });
  return () => cancel();
}

/** Runs `action` once. The only caller of the global `setTimeout` in the client, looked up at each call. */
function startTimer(delayMs: number, action: () => void): () => void {
  if (delayMs === Number.POSITIVE_INFINITY) return () => {};
  let left = Math.max(0, Math.ceil(delayMs));
  let timer: ReturnType<typeof setTimeout>;
  const arm = (): void => {
    const step = Math.min(left, MAX_TIMER_MS);
    left -= step;
    timer = setTimeout(left > 0 ? arm : action, step);
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
      port2.close(); // Deno leaves this end open
      resolve();
    };
    port2.postMessage(undefined);
  });
}
