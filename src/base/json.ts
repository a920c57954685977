/** The name `__proto__`, or one of its letters written as an escape. */
const PROTO = /__proto__|\\u00(?:5f|6f|70|72|74)/i;

/**
 * Parses JSON of any size and depth. Members named `__proto__` are left out at every level: harmless where they stand,
 * they would change the prototype of an object that they are copied to.
 *
 * @throws `SyntaxError` if the text is not JSON.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (PROTO.test(text)) removeProto(value);
  return value;
}

// Not by recursion: JSON may be nested deeper than the stack.
function removeProto(root: unknown): void {
  const pending = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== "object" || value === null) continue;
    if (Object.hasOwn(value, "__proto__")) Reflect.deleteProperty(value, "__proto__");
    for (const member of Object.values(value)) pending.push(member);
  }
}
