import type { AutomationError } from "../errors/automation-error.ts";
import { type Exchange, type Failure, outcomeOfStatus, wasSent } from "./exchange.ts";
import type { ResponseHead } from "./response-head.ts";

/** A 401: the token that was refused, and its error. */
export interface Unauthorized {
  readonly token: string;
  readonly error: () => AutomationError;
}

/** What a call remembers of its requests, over all attempts. Written by `request/attempt.ts` alone. */
export class CallHistory {
  /** Requests that were sent. */
  requests = 0;
  /** A request may have been applied. */
  mayBeApplied = false;
  /** A request was rejected. */
  wasRejected = false;
  /** Makes the error of the latest request that failed, when it is asked for: most 429s are waited out and never thrown. */
  lastFailure: (() => AutomationError) | undefined;
  /** Its connection failed before it was sent. */
  isNeverSent = false;
  /** The latest 401. */
  unauthorized: Unauthorized | undefined;
  /** How often the call was answered 401. */
  unauthorizedCount = 0;
  /** Pauses that its own requests have begun, without another response in between. */
  pausesInARow = 0;
  /** The latest response of the service. */
  latestResponse: ResponseHead | undefined;

  /** Takes in the end of a request. */
  ended(exchange: Exchange): void {
    if (wasSent(exchange)) this.requests += 1;
    if ("head" in exchange && exchange.head !== undefined) this.latestResponse = exchange.head;
    this.pausesInARow = "pause" in exchange && exchange.pause !== undefined ? this.pausesInARow + 1 : 0;
  }

  /** Takes in a request that failed, and how its error is made. Returns what makes it once. */
  failed(exchange: Failure, make: () => AutomationError): () => AutomationError {
    let made: AutomationError | undefined;
    const error = (): AutomationError => (made ??= make());
    // An error says what was known before: only one of a rejection says the same later.
    const isRejected = exchange.kind === "refused" && outcomeOfStatus(exchange.head.status) === "rejected";
    const outcome = isRejected ? "rejected" : error().outcome;
    if (outcome === "unknown" || outcome === "accepted") this.mayBeApplied = true;
    if (outcome === "rejected") this.wasRejected = true;
    this.lastFailure = error;
    this.isNeverSent = exchange.kind === "failed" && !exchange.fault.isSent;
    return error;
  }
}
