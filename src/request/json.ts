/** The largest body of a successful response that is read, in bytes after decompression, unless the caller raises it. */
export const DEFAULT_MAX_RESPONSE_BYTES: number = 4 * 1024 * 1024;

/**
 * Deeper nesting than this is refused. It is about a third of the depth at which `JSON.stringify` and `structuredClone`
 * exceed the stack.
 */
const MAX_DEPTH = 1_000;

/** Bytes of the response limit for each value that a body may hold: 32,768 values at the default limit. */
const BYTES_PER_VALUE = 128;

/** What the text of a body may amount to once it is parsed. */
export interface JsonBounds {
  /** Levels of arrays and objects. */
  readonly maxDepth: number;
  /** Arrays, objects and the values in them, counted as commas and opening brackets outside strings. */
  readonly maxValues: number;
}

/** The bounds that belong to a limit on the size of a response: the number of values grows with it, the depth does not. */
export function boundsFor(maxResponseBytes: number): JsonBounds {
  return { maxDepth: MAX_DEPTH, maxValues: Math.floor(maxResponseBytes / BYTES_PER_VALUE) };
}

/** A text that is over one of its bounds, and was not parsed. */
export class JsonBoundError extends Error {
  /** The bound that the text is over. */
  readonly bound: keyof JsonBounds;
  /** The value of that bound. */
  readonly limit: number;

  constructor(bound: keyof JsonBounds, limit: number) {
    super(`JSON with more than ${limit} ${bound === "maxDepth" ? "levels" : "values"}`);
    this.bound = bound;
    this.limit = limit;
  }
}

/**
 * Parses JSON. Members named `__proto__` are left out at every level: harmless where they stand, they would change the
 * prototype of an object that they are copied to.
 *
 * @param bounds - What the text may amount to; without them everything is parsed.
 * @throws `JsonBoundError` if the text is over a bound, before anything is allocated for it.
 * @throws `SyntaxError` if the text is not JSON.
 */
export function parseJson(text: string, bounds?: JsonBounds): unknown {
  if (bounds !== undefined) checkBounds(text, bounds);
  const value: unknown = JSON.parse(text);
  // Only a text that can spell the name is looked through.
  const maySpell = text.includes("__proto__") || (text.includes("\\u00") && ESCAPED_LETTER.test(text));
  if (maySpell) removeProto(value);
  return value;
}

/** One of the letters of the name, written as an escape. */
const ESCAPED_LETTER = /\\u00(?:5f|6f|70|72|74)/i;

// Not by recursion: what is parsed without bounds may be nested deeper than the stack.
function removeProto(root: unknown): void {
  const pending = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== "object" || value === null) continue;
    if (Object.hasOwn(value, "__proto__")) Reflect.deleteProperty(value, "__proto__");
    for (const member of Object.values(value)) pending.push(member);
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;

function checkBounds(text: string, { maxDepth, maxValues }: JsonBounds): void {
  if (cannotExceed(text, { maxDepth, maxValues })) return;
  let depth = 0;
  let values = 1;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === BACKSLASH) index += 1;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) {
      inString = true;
    } else if (code === COMMA) {
      values += 1;
    } else if (isOpening(code)) {
      values += 1;
      depth += 1;
      if (depth > maxDepth) throw new JsonBoundError("maxDepth", maxDepth);
    } else if (isClosing(code)) {
      depth -= 1;
    }
    if (values > maxValues) throw new JsonBoundError("maxValues", maxValues);
  }
}

// An ordinary page is short and has few brackets, which the platform finds faster than a loop over its characters.
function cannotExceed(text: string, { maxDepth, maxValues }: JsonBounds): boolean {
  if (text.length > maxValues) return false;
  let openings = 0;
  for (const bracket of ["{", "["]) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      openings += 1;
      if (openings > maxDepth) return false;
    }
  }
  return true;
}

const isOpening = (code: number): boolean => code === 0x5b || code === 0x7b; // [ {
const isClosing = (code: number): boolean => code === 0x5d || code === 0x7d; // ] }
