import fc from "fast-check";

/** Any code point, also half of a pair: `unit: "binary"` of fast-check, without its table of a million of them. */
export const anyCharacter: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0x10_ff_ff })
  .map((codePoint) => String.fromCodePoint(codePoint), codePointOf);

function codePointOf(text: unknown): number {
  const codePoint = typeof text === "string" ? text.codePointAt(0) : undefined;
  if (codePoint === undefined || String.fromCodePoint(codePoint) !== text) throw new Error("not one character");
  return codePoint;
}
