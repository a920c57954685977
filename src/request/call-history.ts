import type { AutomationError } from "../errors/automation-error.ts";
import type { Fault } from "./connection-fault.ts";
import type { Exchange } from "./exchange.ts";

/** A 401, and the token that was refused with it. */
export interface Unauthorized {
  readonly error: AutomationError;
  readonly token: string;
}

/** What a call remembers of its requests, over all attempts. Written by `request/attempt.ts` alone. */
export class CallHistory {
  /** Requests that were sent. */
  requests = 0;
  /** The tokens that were read, the latest last. */
  readonly tokens = new Set<string>();
  /** A request may have been applied. */
  mayBeApplied = false;
  /** A request was rejected. */
  wasRejected = false;
  /** The failure of the latest request that failed. */
  lastError: AutomationError | undefined;
  /** How its connection failed, if it did. */
  lastFault: Fault | undefined;
  /** The latest 401; the call is sent again once, with another token. */
  unauthorized: Unauthorized | undefined;
  /** The latest response of the service. */
  latestResponse: { readonly status: number; readonly headers: Headers } | undefined;

  /** Takes in a request that failed. */
  failed(exchange: Exchange, error: AutomationError): void {
    this.lastError = error;
    this.lastFault = exchange.kind === "failed" ? exchange.fault.fault : exchange.kind === "cut" ? "lost" : undefined;
    if (error.outcome === "unknown") this.mayBeApplied = true;
    if (error.outcome === "rejected") this.wasRejected = true;
  }
}
