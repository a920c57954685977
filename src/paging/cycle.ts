/** Cycles of so many cursors or fewer are found at the first repeat. */
const RECENT = 8;

/** So many samples at most are spread evenly over the cursors before. */
const SAMPLES = 64;

/**
 * Finds out that a walk goes in circles, in constant memory. It keeps the latest cursors and, of those before, every
 * n-th, with n doubled whenever there would be too many: a cycle is found as soon as one of the cursors kept comes
 * again. That is the first repeat for a cycle of up to 8 cursors and for every walk of up to 64 pages, and 1/32 of the
 * pages later at most for a longer one (Brent's algorithm, which keeps one cursor, may take two more rounds). Only an
 * equal cursor is taken for a repeat.
 */
export class CycleDetector {
  readonly #recent: string[] = [];
  #samples: string[] = [];
  #stride = 1;
  #count = 0;

  /** Adds a cursor of the walk. Returns whether it closes a cycle. */
  closes(cursor: string): boolean {
    if (this.#recent.includes(cursor) || this.#samples.includes(cursor)) return true;
    this.#recent.push(cursor);
    if (this.#recent.length > RECENT) this.#recent.shift();
    if (this.#count % this.#stride === 0) this.#sample(cursor);
    this.#count += 1;
    return false;
  }

  #sample(cursor: string): void {
    this.#samples.push(cursor);
    if (this.#samples.length <= SAMPLES) return;
    this.#samples = this.#samples.filter((_, index) => index % 2 === 0);
    this.#stride *= 2;
  }
}
