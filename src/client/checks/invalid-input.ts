/** What a caller gave is refused. It never leaves the package: `refusing` makes the caller's error of it. */
export class InvalidInput extends Error {}

/** Refuses what a caller gave; `cause` is what was thrown when it was read. Only within `refusing`. */
export function invalid(message: string, cause?: unknown): never {
  throw new InvalidInput(message, { cause });
}

/** Refuses more arguments than a method takes: they would go unnoticed. */
export function expectNoSurplus(
  surplus: readonly unknown[],
  flaw: string = "too many arguments: the last one is options",
): void {
  if (surplus.length > 0) invalid(flaw);
}
