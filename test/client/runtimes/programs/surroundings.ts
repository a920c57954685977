/** Everything outside the package that importing it could change. */
export type Surroundings = ReadonlyMap<string, unknown>;

interface Host {
  eventNames?(): (string | symbol)[];
  listenerCount?(name: string | symbol): number;
  getActiveResourcesInfo?(): string[];
}

/** What platforms make only when it is first looked at, which is not the package's doing. */
const LAZY = [
  "AbortController",
  "AbortSignal",
  "Blob",
  "crypto",
  "fetch",
  "File",
  "FormData",
  "Headers",
  "performance",
  "ReadableStream",
  "Request",
  "Response",
  "structuredClone",
  "TextDecoder",
  "TextEncoder",
  "TransformStream",
  "URL",
];

/** Own properties of the global object, of what it holds, and of its classes' prototypes; and what the process does. */
export function surroundings(): Surroundings {
  for (const name of LAZY) Reflect.get(globalThis, name);
  const found = new Map<string, unknown>();
  for (const [name, value] of noteProperties(found, "globalThis", globalThis)) {
    if (typeof value !== "function") continue;
    noteProperties(found, name, value);
    const prototype: unknown = Object.getOwnPropertyDescriptor(value, "prototype")?.value;
    if (typeof prototype === "object" && prototype !== null) noteProperties(found, `${name}.prototype`, prototype);
  }
  const host: Host | undefined = Object.getOwnPropertyDescriptor(globalThis, "process")?.value;
  for (const name of host?.eventNames?.() ?? []) found.set(`process on ${String(name)}`, host?.listenerCount?.(name));
  found.set("active", activeResources(host));
  return found;
}

function activeResources(host: Host | undefined): string | undefined {
  try {
    // What the loader itself has open, such as files, comes and goes.
    const active = host?.getActiveResourcesInfo?.().filter((resource) => /Timeout|Immediate|TCP|Port/.test(resource));
    return active?.join();
  } catch {
    // workerd has the method, which throws that it is not implemented.
    return undefined;
  }
}

/** Reads no property: a getter may be one that makes its value at the first look. */
function noteProperties(found: Map<string, unknown>, name: string, owner: object): [string, unknown][] {
  return Reflect.ownKeys(owner).map((key) => {
    const path = `${name}.${String(key)}`;
    const descriptor = Object.getOwnPropertyDescriptor(owner, key) ?? {};
    for (const [part, held] of Object.entries(descriptor)) found.set(`${path}, ${part}`, held);
    return [path, descriptor.value];
  });
}

/** What is different, in words. */
export function differences(before: Surroundings, after: Surroundings): string[] {
  const keys = new Set([...before.keys(), ...after.keys()]);
  return [...keys].filter((key) => before.has(key) !== after.has(key) || !Object.is(before.get(key), after.get(key)));
}
