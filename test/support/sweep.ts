import { inspect } from "node:util";
import { expect } from "vitest";

/**
 * Every text that a value exposes, by print or by property: getters too, non-enumerable and symbol keys too,
 * along the prototypes. Accessors that are documented to hold what is not printed are named in `except`.
 */
export function textsOf(root: unknown, except: readonly string[] = []): string[] {
  const texts: string[] = [];
  const seen = new Set<unknown>();
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value === "string") texts.push(value);
    if (typeof value === "symbol") texts.push(String(value));
    if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) continue;
    if (isBuiltIn(value)) continue;
    seen.add(value);
    expect(["Request", "Response", "Headers"]).not.toContain(Object.prototype.toString.call(value).slice(8, -1));
    if (value instanceof Map || value instanceof Set) pending.push(...value.keys(), ...value.values());
    for (let owner: object | null = value; owner !== null && !isBuiltIn(owner); owner = Object.getPrototypeOf(owner)) {
      for (const key of Reflect.ownKeys(owner)) {
        if (except.includes(String(key))) continue;
        pending.push(key, read(value, key));
      }
    }
  }
  return texts;
}

/** All the ways in which a value is commonly printed. */
export function printsOf(value: unknown): string[] {
  const error = value instanceof Error ? [value.stack ?? "", value.message, String(value)] : [];
  return [
    ...error,
    inspect(value, { depth: Number.POSITIVE_INFINITY, showHidden: true, getters: false }),
    inspect(value),
    JSON.stringify(value) ?? "",
  ];
}

/** Fails if the value exposes any of the secrets. */
export function expectClean(value: unknown, secrets: readonly string[], except: readonly string[] = []): void {
  const all = [...textsOf(value, except), ...printsOf(value)];
  for (const secret of secrets) {
    for (const text of all) if (text.includes(secret)) expect.fail(`the secret ${secret} is exposed: ${text}`);
  }
}

const builtIns = new Set<unknown>(
  [
    Object,
    Function,
    Array,
    Error,
    TypeError,
    RangeError,
    SyntaxError,
    AggregateError,
    Map,
    Set,
    Promise,
    DOMException,
  ].flatMap((one) => [one, one.prototype]),
);

function isBuiltIn(value: object): boolean {
  return builtIns.has(value) || Object.values(globalThis).includes(value);
}

function read(value: object, key: PropertyKey): unknown {
  try {
    return Reflect.get(value, key);
  } catch {
    return undefined;
  }
}
