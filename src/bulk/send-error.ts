import { ArgumentError } from "../client/index.ts";

/**
 * `send` failed by itself after its write had succeeded. The item is `done`, so the next run goes on behind it. `cause` is
 * what `send` failed with.
 */
export class SendError extends ArgumentError {
  /** The key of the item. */
  declare readonly key: string;
  readonly #result: unknown;

  constructor(
    message: string,
    { key, result, cause }: { readonly key: string; readonly result: unknown; readonly cause?: unknown },
  ) {
    super(message, { outcome: "accepted", ...(cause === undefined ? {} : { cause }) });
    Object.assign(this, { key });
    this.#result = result;
  }

  /** The result of the write, such as the issue. No print and no `toJSON` shows it: it may hold anything that the service sends. */
  get result(): unknown {
    return this.#result;
  }
}
