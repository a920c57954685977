import { hintsFor } from "./hints.ts";
import { invalid } from "./invalid-input.ts";
import { type ObjectSchema, type Present, SIGNAL, type Validator } from "./validators.ts";
import { describeValue, isPlainObject, isRecord, nameOf, nullPrototype } from "./values.ts";

/** Checks a value. `what` names it in messages. */
export function expectType<Value>(value: Value, what: string, { words, accepts }: Validator): Value {
  return accepts(value) ? value : invalid(`${what} must be ${words}, not ${describeValue(value)}`);
}

/**
 * Checks an object of which each field is known, and copies it: its own properties, each read once, without those that are
 * `undefined`. The copy inherits nothing. Unknown keys, which are mostly misspelt, are refused first.
 */
export function parseOptions<Given extends object>(
  value: Given | undefined,
  what: string,
  shape: ObjectSchema<Given>,
): Present<Given> {
  const own = ownProperties(value, what);
  const unknown = Object.keys(own).filter((key) => !Object.hasOwn(shape, key));
  if (unknown.length > 0) invalid(`${what} must not have ${unknownKeys(unknown, what, Object.keys(shape))}`);
  const copy = nullPrototype<Record<string, unknown>>();
  for (const [key, expected] of Object.entries<Validator>(shape)) {
    const field = own[key];
    if (field === undefined && expected.required !== true) continue;
    const accepted = expectType(field, `${what}.${key}`, expected);
    copy[key] = expected.read === undefined ? accepted : expected.read(accepted as never); // of the kind that it reads
  }
  return copy as Present<Given>; // as far as its kinds say
}

function ownProperties(value: unknown, what: string): Record<string, unknown> {
  const own = nullPrototype<Record<string, unknown>>();
  if (value === undefined) return own;
  if (!isRecord(value)) invalid(`${what} must be an object, not ${describeValue(value)}`);
  try {
    Object.assign(own, value);
  } catch (cause) {
    // It may have a getter that throws.
    invalid(`${what} cannot be read`, cause);
  }
  // A signal, say, that is passed in place of `{ signal }` has no properties of its own, and would pass for no options.
  if (Object.keys(own).length === 0 && !isPlainObject(value))
    invalid(`${what} must be a plain object${SIGNAL.accepts(value) ? ", such as { signal }" : ""}`);
  return own;
}

const MOST_NAMES = 10;

function unknownKeys(unknown: readonly string[], what: string, accepted: readonly string[]): string {
  const names = unknown.flatMap((key) => nameOf(key) ?? []).slice(0, MOST_NAMES);
  const hints = hintsFor(unknown.slice(0, MOST_NAMES), what, accepted);
  const which = [`the unknown key${unknown.length > 1 ? "s" : ""}`, names.join(", ")].join(" ").trim();
  return [which, `accepted: ${accepted.join(", ")}`, ...hints].join("; ");
}
