/**
 * Issues and reads the opaque cursors of one emulator. A cursor names a position in one list. It is signed with a small
 * keyed hash, which finds out a cursor that was altered, made up, or taken from another list; it is not cryptography.
 * Cursors use the alphabet of base64, `+`, `/` and `=` included, so that a client which does not encode them is found out.
 */
export class Cursors {
  readonly #key: string;
  #variants = 0;

  constructor(key: string) {
    this.#key = key;
  }

  /** The cursor of a position in `list`; always the same one. */
  issue(list: string, position: number): string {
    return this.#sign(list, `${position.toString(36)}.0`);
  }

  /** A cursor of the position that was never issued before. */
  issueAnother(list: string, position: number): string {
    this.#variants += 1;
    return this.#sign(list, `${position.toString(36)}.${this.#variants.toString(36)}`);
  }

  /** The position that `cursor` names in `list`, or `undefined` when this emulator did not issue it for that list. */
  read(list: string, cursor: string): number | undefined {
    const bytes = decode(cursor);
    const tag = bytes.slice(0, TAG_LENGTH);
    const payload = veil(bytes.slice(TAG_LENGTH), tag);
    const [, position] = /^([0-9a-z]+)\.[0-9a-z]+$/.exec(payload) ?? [];
    // Compared as text: base64 has several spellings of the same bytes, and only the issued one is genuine.
    const genuine = position !== undefined && this.#sign(list, payload) === cursor;
    return genuine ? Number.parseInt(position, 36) : undefined;
  }

  #sign(list: string, payload: string): string {
    const tag = keyedHash(this.#key, `${list.length}:${list}${payload}`);
    return btoa(tag + veil(payload, tag));
  }
}

const TAG_LENGTH = 8;

function decode(cursor: string): string {
  try {
    return atob(cursor);
  } catch {
    return "";
  }
}

/** Its own inverse. */
function veil(text: string, tag: string): string {
  const at = (index: number): number => text.charCodeAt(index) ^ tag.charCodeAt(index % TAG_LENGTH);
  return Array.from({ length: text.length }, (_, index) => String.fromCharCode(at(index) & 0xff)).join("");
}

/** Two 32-bit lanes of multiply and rotate over the key, the text and the key again; eight bytes. */
function keyedHash(key: string, text: string): string {
  let left = 0xdeadbeef;
  let right = 0x41c6ce57;
  for (const unit of [...units(key), 0, ...units(text), 0, ...units(key)]) {
    left = Math.imul(left ^ unit, 0x9e3779b1);
    left = (left << 13) | (left >>> 19);
    right = Math.imul(right ^ unit, 0x5f356495);
    right = (right << 17) | (right >>> 15);
  }
  return fourBytes(avalanche(left ^ right)) + fourBytes(avalanche(right + Math.imul(left, 0x85ebca6b)));
}

function units(text: string): number[] {
  return Array.from({ length: text.length }, (_, index) => text.charCodeAt(index) + 1);
}

function avalanche(value: number): number {
  const once = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return (twice ^ (twice >>> 16)) >>> 0;
}

function fourBytes(value: number): string {
  return String.fromCharCode(value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff);
}
