/**
 * Parses JSON. A member named `__proto__` is left out: harmless where it stands, it would change the prototype of
 * whatever it is copied to.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // Only a text that can spell the name is looked through.
  const maySpell = text.includes("__proto__") || (text.includes("\\u00") && ESCAPED_LETTER.test(text));
  if (maySpell) removeProto(value);
  return value;
}

/** One of the letters of the name, written as an escape. */
const ESCAPED_LETTER = /\\u00(?:5f|6f|70|72|74)/i;

// Not by recursion: what is parsed may be nested deeper than the stack.
function removeProto(root: unknown): void {
  const pending = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== "object" || value === null) continue;
    if (Object.hasOwn(value, "__proto__")) Reflect.deleteProperty(value, "__proto__");
    for (const member of Object.values(value)) pending.push(member);
  }
}
