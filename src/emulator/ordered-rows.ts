interface Slice<Row> {
  readonly rows: readonly Row[];
  /** The position to go on from, or `undefined` if no row is left. */
  readonly next: number | undefined;
}

/**
 * Rows by key, in order of insertion. A position is the ordinal of a row and is never used twice, so that a reader that
 * goes on from one neither misses nor repeats a row, whatever was added or deleted meanwhile.
 */
export class OrderedRows<Row> {
  readonly #entries = new Map<string, { readonly position: number; row: Row }>();
  #lastPosition = 0;

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Row | undefined {
    return this.#entries.get(key)?.row;
  }

  all(): Row[] {
    return Array.from(this.#entries.values(), (entry) => entry.row);
  }

  /** Adds a row behind all others, or replaces the one of that key where it stands. Returns the row. */
  set<Added extends Row>(key: string, row: Added): Added {
    const entry = this.#entries.get(key);
    if (entry !== undefined) entry.row = row;
    else this.#entries.set(key, { position: ++this.#lastPosition, row });
    return row;
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  /** Up to `limit` rows behind position `after`; 0 is the beginning. */
  slice(after: number, limit: number): Slice<Row> {
    const rows: Row[] = [];
    let last = after;
    for (const { position, row } of this.#entries.values()) {
      if (position <= after) continue;
      if (rows.length === limit) return { rows, next: last };
      rows.push(row);
      last = position;
    }
    return { rows, next: undefined };
  }
}
