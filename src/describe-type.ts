/** The type of a value in words that never show the value. */
export function describeType(value: unknown): string {
  if (value === null) return "null";
  if (value === "") return "an empty string";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "number" && !Number.isInteger(value))
    return Number.isFinite(value) ? "a fraction" : String(value);
  return typeof value === "undefined" ? "undefined" : `${/^[aeiou]/.test(typeof value) ? "an" : "a"} ${typeof value}`;
}
