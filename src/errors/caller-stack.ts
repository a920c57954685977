import { isBrandedError } from "./automation-error.ts";

/** Where a call began. */
export interface CallSite {
  readonly stack?: string | undefined;
}

/** The stack of the code that calls `entry`; where the platform allows, it begins above `entry`. */
export function captureCallSite(entry: (...parameters: never[]) => unknown): CallSite {
  const platform = Error as { captureStackTrace?: (target: object, entry: unknown) => void }; // not every platform has it
  if (platform.captureStackTrace === undefined) return new Error();
  const site: CallSite = {};
  platform.captureStackTrace(site, entry);
  return site;
}

/** Lets the stack of an error of ours begin where the call began that it ended, and not inside this library. */
export function beginStackAt(error: unknown, site: CallSite): void {
  if (isBrandedError(error)) setStack(error, () => `${error.name}: ${error.message}\n${framesOf(site.stack)}`);
}

/** Appends the present stack to an error that was created before its caller asked for it. */
export function continueStack(error: unknown): void {
  if (!isBrandedError(error)) return;
  const before = error.stack ?? "";
  const here = new Error();
  setStack(error, () => `${before}\n${framesOf(here.stack)}`);
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
