import type { RefusalReason } from "./conventions.ts";

/** How the inside of the emulator says no; the service turns it into a status and a code. Never leaves the emulator. */
export class Refusal extends Error {
  readonly reason: RefusalReason;
  /** Header fields that belong to this refusal. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(reason: RefusalReason, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = "Refusal";
    this.reason = reason;
    this.headers = headers;
  }
}
