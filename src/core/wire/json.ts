import { isObject } from "../checks/values.ts";

/** The name `__proto__`, or one of its letters written as an escape. */
const PROTO = /__proto__|\\u00(?:5f|6f|70|72|74)/i;

/**
 * Parses JSON of any size and depth; `undefined` if the text is none. Members named `__proto__` are left out at every level:
 * harmless where they stand, they would change the prototype of an object that they are copied to.
 */
export function parseJson(text: string): unknown {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    return undefined;
  }
  for (const value of PROTO.test(text) ? valuesOf(root) : []) {
    if (isObject(value)) Reflect.deleteProperty(value, "__proto__");
  }
  return root;
}

/** Parsed JSON and all values in it. Not by recursion: JSON may be nested deeper than the stack. */
export function* valuesOf(root: unknown): Generator<unknown> {
  const pending = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    yield value;
    if (isObject(value)) for (const member of Object.values(value)) pending.push(member);
  }
}
