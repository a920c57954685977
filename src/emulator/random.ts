/**
 * A repeatable source of numbers in [0, 1): equal seeds give equal sequences, on every runtime. For `random` of
 * `createEmulator`; not for secrets.
 */
export function seededRandom(seed: number): () => number {
  return sequence([seed, seed ^ 0x9e3779b9, 0x243f6a88, 0xb7e15162]);
}

/** Words that a caller's source is asked for: their 128 bits are the seed of all ids and tokens of an emulator. */
const SEED_WORDS = 4;

export interface RandomSource {
  /** Starts the emulator's own sequence from its beginning, so that `reset()` brings back the same token and ids. */
  readonly start: () => () => number;
  /** The key of the emulator's world: eight letters and digits in each of its tokens and cursors. */
  readonly world: string;
}

/** The emulators that were made in this process. */
let count = 0;

/**
 * Returns the source of an emulator in memory. The caller's source is asked once; the default is the same in every run. Its
 * world also comes from a count in the process, so that two emulators differ, and a program sees the same each time.
 */
export function repeatableRandom(own: () => number = seededRandom(1)): RandomSource {
  const words = Array.from({ length: SEED_WORDS }, () => Math.floor(own() * 2 ** 32));
  count += 1;
  return { start: () => sequence(words), world: worldOf(sequence([...words, count])) };
}

export function worldOf(random: () => number): string {
  return idsFrom(random)(8);
}

/** The generator "sfc32" over four words of state. A fifth one chooses another sequence of the same seed. */
function sequence(words: readonly number[]): () => number {
  let [a = 0, b = 0, c = 0, counter = 1, variant = 0] = words.map((word) => word | 0);
  a ^= variant;
  const draw = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  // The first numbers still show the seed.
  for (let round = 0; round < 12; round += 1) draw();
  return draw;
}

const ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";

/** Returns an identifier of so many lower-case letters and digits. */
export type MakeId = (length: number) => string;

export function idsFrom(random: () => number): MakeId {
  return (length) => Array.from({ length }, () => ALPHABET.charAt(Math.floor(random() * ALPHABET.length))).join("");
}
