/** Wakes those who wait for the state of a run to change. */
export class Changes {
  #waiting: (() => void)[] = [];

  /** Resolves at the next change. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  notify(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}
