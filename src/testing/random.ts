/**
 * A repeatable source of numbers in [0, 1): equal seeds give equal sequences, on every runtime. For `random` of
 * `createEmulator`; not for secrets.
 */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Something that can be started over: each call gives the source of one run, from `createEmulator` or `reset()` on. */
export type RandomPerRun = () => { random: () => number; seeded: () => void };

/**
 * Makes `reset()` bring back the same token and ids. The default source starts over as a whole; of a caller's own
 * source, which cannot be rewound, the numbers that were used for seeding are kept and used again.
 */
export function randomPerRun(own: (() => number) | undefined): RandomPerRun {
  if (own === undefined) return () => ({ random: seededRandom(DEFAULT_SEED), seeded: () => undefined });
  const tape: number[] = [];
  let recording = true;
  return () => {
    let position = 0;
    const random = (): number => {
      const replayed = tape[position++];
      if (replayed !== undefined) return replayed;
      const drawn = own();
      if (recording) tape.push(drawn);
      return drawn;
    };
    const seeded = (): void => {
      recording = false;
    };
    return { random, seeded };
  };
}

const DEFAULT_SEED = 1;
const ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";

/** Makes identifiers out of a random source; never the same one twice, even out of a source that repeats itself. */
export class Identifiers {
  readonly #random: () => number;
  readonly #taken = new Set<string>();

  constructor(random: () => number) {
    this.#random = random;
  }

  /** A fresh identifier of `length` lower-case letters and digits (longer if the source repeats itself). */
  next(length: number): string {
    let identifier = this.characters(length);
    while (this.#taken.has(identifier)) identifier += this.#taken.size.toString(36);
    this.#taken.add(identifier);
    return identifier;
  }

  /** Random characters, not checked for being fresh: for secrets and keys. */
  characters(length: number): string {
    return Array.from({ length }, () => ALPHABET.charAt(this.#index())).join("");
  }

  #index(): number {
    const drawn = this.#random();
    return Number.isFinite(drawn) ? Math.min(Math.max(Math.floor(drawn * ALPHABET.length), 0), ALPHABET.length - 1) : 0;
  }
}
