/** Something kept per token that may be forgotten while it is idle. */
export interface Forgettable {
  /** Whether nothing depends on it. */
  readonly isIdle: boolean;
}

/** Entries that are remembered while they are idle. */
const MAX_IDLE = 256;
/** Old entries that are looked at whenever a new one is made: two, so that the map shrinks faster than it grows. */
const LOOKS = 2;

/**
 * One entry per token, made when it is first needed. Tokens come and go, some with every call, so the entries that were
 * used longest ago are forgotten once they are idle. Each operation takes constant time, whatever the number of tokens.
 */
export class TokenMap<Entry extends Forgettable> {
  readonly #create: (token: string) => Entry;
  /** In order of use, the latest last. */
  readonly #entries = new Map<string, Entry>();

  constructor(create: (token: string) => Entry) {
    this.#create = create;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The entry of a token, if there is one. */
  find(token: string): Entry | undefined {
    return this.#entries.get(token);
  }

  /** The entry of a token, which is made if there is none. */
  get(token: string): Entry {
    let entry = this.#entries.get(token);
    if (entry === undefined) {
      this.#forgetOldest();
      entry = this.#create(token);
    } else {
      this.#entries.delete(token);
    }
    this.#entries.set(token, entry);
    return entry;
  }

  #forgetOldest(): void {
    if (this.#entries.size < MAX_IDLE) return;
    let looks = LOOKS;
    for (const [token, entry] of this.#entries) {
      if (looks === 0) return;
      looks -= 1;
      this.#entries.delete(token);
      // An entry that is in use moves to the end, so that the next look finds another.
      if (!entry.isIdle) this.#entries.set(token, entry);
    }
  }
}
