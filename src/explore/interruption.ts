const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export class Interrupted extends Error {
  readonly by: NodeJS.Signals;
  /** True if the process would have ended by it. */
  readonly #isFatal: boolean;

  constructor(by: NodeJS.Signals, isFatal: boolean) {
    super(`interrupted by ${by}`);
    this.by = by;
    this.#isFatal = isFatal;
  }

  /** Ends this process as the signal would have done, unless somebody else listens to it. */
  endProcess(): void {
    if (this.#isFatal) process.kill(process.pid, this.by);
  }
}

/**
 * Does work that the caller's signal aborts, and a signal to this process too, so that the work can clean up. A signal that
 * comes once more, as npm repeats it, changes nothing.
 */
export async function untilInterrupted<Result>(
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const interruption = new AbortController();
  const listeners = SIGNALS.map((name) => {
    const isFatal = process.listenerCount(name) === 0;
    return [name, () => interruption.abort(new Interrupted(name, isFatal))] as const;
  });
  for (const [name, listener] of listeners) process.on(name, listener);
  const onExit = (): void => interruption.abort();
  process.once("exit", onExit);
  try {
    const either = signal === undefined ? interruption.signal : AbortSignal.any([interruption.signal, signal]);
    return await work(either);
  } finally {
    for (const [name, listener] of listeners) process.off(name, listener);
    process.off("exit", onExit);
  }
}
