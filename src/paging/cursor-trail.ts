/** Cursors kept as they are: short cycles are told at the first repeat. */
const RECENT = 8;
const FIRST_CAPACITY = 16;

/**
 * Remembers which cursors a walk has been given, to tell when it goes in circles. The latest are kept as they are, of
 * the others a fingerprint of four bytes. A fingerprint alone proves nothing, so a repeat that only fingerprints show is
 * believed when that very cursor comes yet again: a long cycle is told one round late.
 */
export class CursorTrail {
  readonly #recent: string[] = [];
  /** Open addressing, at most half full; 0 is an empty slot. */
  #fingerprints = new Uint32Array(FIRST_CAPACITY);
  #count = 0;
  #suspect: string | undefined;
  /** Repeats, as fingerprints tell, since there is this suspect. */
  #hits = 0;

  /** Adds a cursor; `true` if the walk has been there before. */
  repeats(cursor: string): boolean {
    if (this.#recent.includes(cursor) || cursor === this.#suspect) return true;
    this.#recent.push(cursor);
    if (this.#recent.length > RECENT) this.#recent.shift();
    if (this.#addFingerprint(fingerprint(cursor))) this.#suspectOf(cursor);
    return false;
  }

  // No cycle is longer than what has been seen: a suspect that has not come again by then was a coincidence.
  #suspectOf(cursor: string): void {
    if (this.#suspect === undefined || this.#hits > this.#count) {
      this.#suspect = cursor;
      this.#hits = 0;
    }
    this.#hits += 1;
  }

  /** `true` if it was there already. */
  #addFingerprint(print: number): boolean {
    const slot = slotOf(this.#fingerprints, print);
    if (this.#fingerprints[slot] === print) return true;
    this.#fingerprints[slot] = print;
    this.#count += 1;
    if (this.#count * 2 > this.#fingerprints.length) this.#grow();
    return false;
  }

  #grow(): void {
    const grown = new Uint32Array(this.#fingerprints.length * 2);
    for (const print of this.#fingerprints) if (print !== 0) grown[slotOf(grown, print)] = print;
    this.#fingerprints = grown;
  }
}

/** The slot that holds a fingerprint, or the empty one where it belongs. */
function slotOf(table: Uint32Array, print: number): number {
  const mask = table.length - 1;
  let slot = print & mask;
  while (table[slot] !== 0 && table[slot] !== print) slot = (slot + 1) & mask;
  return slot;
}

/** FNV-1a with a final mix, never 0. */
function fingerprint(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return ((hash ^ (hash >>> 13)) | 1) >>> 0;
}
