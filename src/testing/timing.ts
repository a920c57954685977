/** Longer than this, a timer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Resolves after `ms` (never, for `Infinity`); rejects with the signal's reason as soon as it is aborted. */
export function delay(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (ms === 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", aborted);
    };
    const aborted = (): void => {
      end();
      reject(signal?.reason);
    };
    const elapsed = (): void => {
      end();
      resolve();
    };
    const timer = ms === Infinity ? undefined : setTimeout(elapsed, Math.min(ms, LONGEST_TIMER_MS));
    signal?.addEventListener("abort", aborted, { once: true });
    if (signal?.aborted) aborted();
  });
}

/** Lets the runtime's other work run, timers included; where it can, not by a timer, which a test may have replaced. */
export function giveTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof MessageChannel === "undefined") return void setTimeout(resolve, 0);
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
