/** Invalid input of the caller. It never leaves the package: `asErrorClass` makes the caller's error of it. */
export class InvalidInput extends Error {}

/** Refuses input of the caller; `cause` is what reading it threw. Only within `asErrorClass`. */
export function invalid(message: string, cause?: unknown): never {
  throw new InvalidInput(message, { cause });
}
