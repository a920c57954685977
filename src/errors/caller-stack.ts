import { isBrandedError } from "./automation-error.ts";

/**
 * Lets the stack of an error of ours begin in the code that awaits `entry`, and not inside this library. Call it in
 * `entry` itself, an async function. Where the platform does not name the code that awaits, the stack stays as it is.
 */
export function beginStackInCaller(error: unknown, entry: (...parameters: never[]) => unknown): void {
  const platform = Error as { captureStackTrace?: (target: object, entry: unknown) => void }; // V8 has it, and follows `await`
  if (platform.captureStackTrace === undefined || !isBrandedError(error)) return;
  const site: { stack?: string } = {};
  platform.captureStackTrace(site, entry);
  const inside = stackOf(error);
  setStack(error, () => {
    const frames = framesOf(site.stack);
    return frames === "" ? inside() : `${error.name}: ${error.message}\n${frames}`;
  });
}

/** Appends the present stack to an error that was created before its caller asked for it. */
export function continueStack(error: unknown): void {
  if (!isBrandedError(error)) return;
  const before = error.stack ?? "";
  const here = new Error();
  setStack(error, () => `${before}\n${framesOf(here.stack)}`);
}

// A property of the error itself or of its prototype, a value or an accessor: platforms and their versions differ.
function stackOf(error: Error): () => string {
  const property =
    Object.getOwnPropertyDescriptor(error, "stack") ?? Object.getOwnPropertyDescriptor(Error.prototype, "stack");
  return () => {
    const stack: unknown = property?.get === undefined ? property?.value : property.get.call(error);
    return typeof stack === "string" ? stack : "";
  };
}

// V8 puts the name and the message in front, other platforms have frames alone.
function framesOf(stack = ""): string {
  const lines = stack.split("\n");
  const first = lines.findIndex((line) => /^\s+at |@/.test(line));
  return first < 0 ? "" : lines.slice(first).join("\n");
}

// Platforms write a stack when it is first read, which most never are; so does this.
function setStack(error: Error, write: () => string): void {
  const shared = { configurable: true, enumerable: false };
  Object.defineProperty(error, "stack", {
    ...shared,
    get() {
      const value = write();
      Object.defineProperty(error, "stack", { ...shared, value, writable: true });
      return value;
    },
    set(value: unknown) {
      Object.defineProperty(error, "stack", { ...shared, value, writable: true });
    },
  });
}
