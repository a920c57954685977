/** Run-time checks of what a test hands to the emulator. Each throws a `TypeError` that names the place. */

/** A plain record, with no key outside `known`. */
export function checkRecord(where: string, value: unknown, known: readonly string[]): Record<string, unknown> {
  if (!isRecord(value)) throw new TypeError(`${where} must be an object, got ${nameOf(value)}`);
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) throw new TypeError(`${where}: unknown key "${key}"; known are ${known.join(", ")}`);
  }
  return value;
}

/** An integer from `min` to `max`; `undefined` becomes `fallback`. */
export function checkInteger(where: string, value: unknown, range: IntegerRange): number {
  if (value === undefined && range.fallback !== undefined) return range.fallback;
  const max = range.max ?? Number.MAX_SAFE_INTEGER;
  const allowed = typeof value === "number" && (Number.isSafeInteger(value) || (range.infinite && value === Infinity));
  if (allowed && value >= range.min && (value <= max || value === Infinity)) return value;
  const bounds = range.max === undefined ? `of at least ${range.min}` : `from ${range.min} to ${range.max}`;
  throw new TypeError(
    `${where} must be an integer ${bounds}${range.infinite ? " or Infinity" : ""}, got ${nameOf(value)}`,
  );
}

/** What {@link checkInteger} accepts. Without `fallback` the value is required. */
export interface IntegerRange {
  readonly min: number;
  readonly max?: number | undefined;
  readonly fallback?: number | undefined;
  readonly infinite?: boolean | undefined;
}

/** A string that is not empty. */
export function checkString(where: string, value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  throw new TypeError(`${where} must be a non-empty string, got ${nameOf(value)}`);
}

/** An array of strings, copied. */
export function checkStrings(where: string, value: unknown): string[] {
  if (!Array.isArray(value)) throw new TypeError(`${where} must be an array of strings, got ${nameOf(value)}`);
  return value.map((item: unknown, index) => checkString(`${where}[${index}]`, item));
}

/** Whether `value` is an object that is neither an array nor a function. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "number" || typeof value === "boolean" || value === undefined) return String(value);
  return value === "" ? "an empty string" : `a value of type ${typeof value}`;
}
