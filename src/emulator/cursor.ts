/**
 * Issues and reads the opaque cursors of one emulator: base64 of a checksum, of its world and of a position in one list. The
 * checksum includes the list, so that a cursor that was altered, made up, or taken from another list is refused; it is not
 * cryptography. The alphabet of base64 has `+`, `/` and `=`, so that a client that does not encode them fails.
 */
export class Cursors {
  readonly #world: string;
  #variants = 0;

  constructor(world: string) {
    this.#world = world;
  }

  issue(list: string, position: number): string {
    return this.#encode(list, `${this.#world}.${position.toString(36)}.0`);
  }

  /** A cursor of the position that was never issued before. */
  issueAnother(list: string, position: number): string {
    this.#variants += 1;
    return this.#encode(list, `${this.#world}.${position.toString(36)}.${this.#variants.toString(36)}`);
  }

  /** The position that `cursor` names in `list`, or `undefined` if this emulator did not issue it for that list. */
  read(list: string, cursor: string): number | undefined {
    const payload = decode(cursor).slice(CHECKSUM_LENGTH);
    const [, world, position] = /^([0-9a-z]+)\.([0-9a-z]+)\.[0-9a-z]+$/.exec(payload) ?? [];
    // Compared as text: base64 has several spellings of the same bytes, and only the issued one is genuine.
    const isGenuine = world === this.#world && position !== undefined && this.#encode(list, payload) === cursor;
    return isGenuine ? Number.parseInt(position, 36) : undefined;
  }

  #encode(list: string, payload: string): string {
    return btoa(checksum(list + payload) + payload);
  }
}

const CHECKSUM_LENGTH = 4;

function decode(cursor: string): string {
  try {
    return atob(cursor);
  } catch {
    return "";
  }
}

/** FNV-1a with a final mix, as four characters of one byte each. */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  hash = (hash ^ (hash >>> 13)) >>> 0;
  return String.fromCharCode(hash >>> 24, (hash >>> 16) & 0xff, (hash >>> 8) & 0xff, hash & 0xff);
}
