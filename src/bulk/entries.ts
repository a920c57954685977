/** The entries of a run that wait to be taken by its caller; also wakes those who wait for anything in the run to change. */
export class Entries<Entry> {
  readonly #capacity: number;
  #waiting: Entry[] = [];
  #isLeft = false;
  #isOver = false;
  #sleepers: (() => void)[] = [];

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get isFull(): boolean {
    return this.#waiting.length >= this.#capacity;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  add(entry: Entry): void {
    if (!this.#isLeft) this.#waiting.push(entry);
    this.notify();
  }

  async take(): Promise<Entry | undefined> {
    for (;;) {
      const entry = this.#waiting.shift();
      if (entry !== undefined) this.notify();
      if (entry !== undefined || this.#isOver) return entry;
      await this.change();
    }
  }

  leave(): void {
    this.#isLeft = true;
    this.#waiting = [];
    this.notify();
  }

  end(): void {
    this.#isOver = true;
    this.notify();
  }

  change(): Promise<void> {
    return new Promise((resolve) => {
      this.#sleepers.push(resolve);
    });
  }

  notify(): void {
    const sleepers = this.#sleepers;
    this.#sleepers = [];
    for (const wake of sleepers) wake();
  }
}
