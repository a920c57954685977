/** Compares as JSON does, except that the order of keys is none and `undefined` is a value. */
export function equal(actual: unknown, expected: unknown, what = "it"): void {
  const [found, wanted] = [shown(actual), shown(expected)];
  if (found !== wanted) throw new Error(`${what}: expected ${wanted}, found ${found}`);
}

export function holds(condition: boolean, what: string): void {
  if (!condition) throw new Error(`expected ${what}`);
}

function shown(value: unknown): string {
  if (typeof value !== "object" || value === null)
    return typeof value === "string" ? JSON.stringify(value) : String(value);
  if (Array.isArray(value)) return `[${value.map(shown).join(", ")}]`;
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return `{ ${entries.map(([key, one]) => `${key}: ${shown(one)}`).join(", ")} }`;
}
