/** Runs a caller's callback: what it throws or rejects with goes nowhere, and nothing waits for it. */
export function ignoreErrors(callback: () => unknown): void {
  try {
    const result = callback();
    if (typeof result === "object" && result !== null && "then" in result) Promise.resolve(result).catch(() => {});
  } catch {
    // A listener must not break the call it listens to.
  }
}
