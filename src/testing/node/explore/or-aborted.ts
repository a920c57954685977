/** Settles as `work` does, or rejects with the reason of the signal if that is aborted first. */
export function orAborted<Value>(work: Value | PromiseLike<Value>, signal: AbortSignal | undefined): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal?.reason);
    if (signal?.aborted) return abort();
    signal?.addEventListener("abort", abort, { once: true });
    void Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => signal?.removeEventListener("abort", abort));
  });
}
