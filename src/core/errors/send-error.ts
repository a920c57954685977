import { AutomationError, type ErrorDetails } from "./automation-error.ts";

/**
 * `send` failed by itself after its write had succeeded. The item is `done`, so the next run goes on behind it. `cause` is
 * what `send` failed with.
 */
export class SendError extends AutomationError {
  static override readonly kinds: readonly ["send"] = ["send"];
  declare readonly kind: "send";
  /** The key of the item. */
  declare readonly key: string;
  readonly #result: unknown;

  constructor(
    message: string,
    { result, ...details }: ErrorDetails & { readonly key: string; readonly result: unknown },
  ) {
    super(message, { outcome: "accepted", ...details });
    this.#result = result;
  }

  /** The result of the write, such as the issue. No print and no `toJSON` shows it: it may hold anything that the service sends. */
  get result(): unknown {
    return this.#result;
  }
}
