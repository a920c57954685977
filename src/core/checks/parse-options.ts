import { hintsFor } from "./hints.ts";
import { invalid } from "./invalid-input.ts";
import type { ObjectSchema, Present, Validator } from "./validators.ts";
import { describeValue, isPlainObject, isRecord, nameOf, nullPrototype } from "./values.ts";

/** Checks a value. `what` names it in messages. */
export function expectType<Value>(value: Value, what: string, { words, accepts, hint }: Validator): Value {
  return accepts(value)
    ? value
    : invalid(`${what} must be ${words}, not ${describeValue(value)}${hint?.(value) ?? ""}`);
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
  const own = ownProperties(value, what, shape);
  const unknown = Object.keys(own).filter((key) => !Object.hasOwn(shape, key));
  if (unknown.length > 0) {
    const missing = requiredOf(shape).filter((key) => own[key] === undefined);
    const lack = missing.length > 0 ? `have ${missing.join(" and ")}, and ` : "";
    const given = Object.fromEntries(unknown.slice(0, MOST_NAMES).map((key) => [key, own[key]]));
    invalid(`${what} must ${lack}not have ${unknownKeys(given, what, Object.keys(shape))}`);
  }
  const copy = nullPrototype<Record<string, unknown>>();
  for (const [key, expected] of Object.entries<Validator>(shape)) {
    const field = own[key];
    if (field === undefined && expected.required !== true) {
      if (expected.keepsUndefined === true && Object.hasOwn(own, key)) copy[key] = undefined;
      continue;
    }
    const accepted = expectType(field, `${what}.${key}`, expected);
    copy[key] = expected.read === undefined ? accepted : expected.read(accepted as never); // it takes what `accepts` let through
  }
  return copy as Present<Given>; // each field has passed its validator
}

type AnySchema = Readonly<Record<string, Validator>>;

function ownProperties(value: unknown, what: string, shape: AnySchema): Record<string, unknown> {
  const own = nullPrototype<Record<string, unknown>>();
  if (value === undefined) return own;
  const required = requiredOf(shape);
  const example = required.length > 0 ? required : Object.keys(shape).slice(0, 1);
  const such = example.length > 0 ? ` such as { ${example.join(", ")} }` : "";
  if (!isRecord(value)) invalid(`${what} must be an object${such}, not ${describeValue(value)}`);
  try {
    Object.assign(own, value);
  } catch (cause) {
    // It may have a getter that throws.
    invalid(`${what} cannot be read`, cause);
  }
  // A signal, say, has no properties of its own, and would pass for no options; a client has others.
  const keys = Object.keys(own);
  const isOther = keys.length === 0 || keys.some((key) => !Object.hasOwn(shape, key));
  if (isOther && !isPlainObject(value)) {
    invalid(`${what} must be a plain object${such}, not ${describeValue(value)}`);
  }
  return own;
}

function requiredOf(shape: AnySchema): string[] {
  return Object.keys(shape).filter((key) => shape[key]?.required === true);
}

const MOST_NAMES = 10;

function unknownKeys(unknown: Readonly<Record<string, unknown>>, what: string, accepted: readonly string[]): string {
  const keys = Object.keys(unknown);
  const hints = hintsFor(unknown, what, accepted);
  const which = [`the unknown key${keys.length > 1 ? "s" : ""}`, keys.flatMap((key) => nameOf(key) ?? []).join(", ")];
  return `${which.join(" ").trim()}${hints.length > 0 ? ` (${hints.join("; ")})` : ""}; accepted: ${accepted.join(", ")}`;
}
