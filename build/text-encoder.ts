/**
 * The platform's `TextEncoder`, looked up when it is used. The build puts it where ky names the global one: ky makes one as
 * soon as it is imported, and jsdom has none.
 */
export class TextEncoder {
  /** The text in UTF-8. */
  encode(text: string): Uint8Array {
    return new globalThis.TextEncoder().encode(text);
  }
}
