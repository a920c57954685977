/**
 * Parses JSON. A member named `__proto__` is left out: harmless where it stands, it would change the prototype of
 * whatever it is copied to.
 */
export function parseJson(text: string): unknown {
  // Only a text that can spell the name pays for the slower way.
  return text.includes("__proto__") || (text.includes("\\u00") && ESCAPED_LETTER.test(text))
    ? JSON.parse(text, withoutProto)
    : JSON.parse(text);
}

/** One of the letters of the name, written as an escape. */
const ESCAPED_LETTER = /\\u00(?:5f|6f|70|72|74)/i;

function withoutProto(key: string, value: unknown): unknown {
  return key === "__proto__" ? undefined : value;
}
