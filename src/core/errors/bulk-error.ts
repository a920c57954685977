import { AutomationError, type ErrorDetails } from "./automation-error.ts";

/** The number of items of an import, by what is known of them, whichever run found it out. */
export interface BulkCounts {
  /** Written. */
  readonly done: number;
  /** Of these: written by an earlier run. */
  readonly skipped: number;
  /** Refused by the service, so not written. The next run sends them again. */
  readonly refused: number;
  /** Certainly not written. The next run sends them. */
  readonly not_sent: number;
  /** Perhaps written. The next run asks `resolveUnknown`. */
  readonly unknown: number;
}

/**
 * The import is not finished: the run has done what it could, and some items are left. The message names up to three that it
 * began, and what to do about them. `cause` is what stopped the run, if anything did.
 */
export class BulkError extends AutomationError {
  static override readonly kinds: readonly ["bulk"] = ["bulk"];
  declare readonly kind: "bulk";
  /** The counts at the end of the run. Items of a stream that were not taken are in none of them. */
  declare readonly summary: BulkCounts;

  constructor(message: string, details: ErrorDetails & { readonly summary: BulkCounts }) {
    super(message, details);
  }

  /** The error that stopped the run before its last item: an outage, a token that was refused, your signal. */
  get stoppedBy(): AutomationError | undefined {
    return this.cause as AutomationError | undefined; // a run has no other cause
  }
}
