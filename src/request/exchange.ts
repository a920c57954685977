import type { Deadline, StopReason } from "../base/deadline.ts";
import type { AutomationError, Outcome, TimeoutPhase } from "../errors/automation-error.ts";
import type { FaultSource } from "../errors/connection-fault.ts";
import type { ReportedPause } from "../rate-limit/rate-limiter.ts";
import { isSuccess, type ResponseHead } from "./response.ts";

/** A success. `text`: its body, `undefined` if it does not matter. */
export interface Received {
  readonly kind: "received";
  readonly head: ResponseHead;
  readonly text: string | undefined;
}

/** A response whose status is no success. */
export interface Refused {
  readonly kind: "refused";
  readonly head: ResponseHead;
  /** Its body as JSON, else as text; `undefined` if it has none, or none that came within a moment. */
  readonly body: unknown;
  /** The pause that it began, if it is a 429, as the rate limiter says. */
  readonly pause: ReportedPause | undefined;
}

/** A success whose body is larger than `maxResponseBytes`. */
interface Oversized {
  readonly kind: "oversized";
  readonly head: ResponseHead;
}

/** How far a request came. */
export interface Reached {
  /** Whether the request may have reached the service; absent where none was begun. */
  readonly isSent?: boolean | undefined;
  readonly head?: ResponseHead | undefined;
  /** The part of a success's body that was received. */
  readonly text?: string | undefined;
}

/** The connection failed: before there was a response, or within the body of a success. */
interface Failed extends Pick<Reached, "head" | "text"> {
  readonly kind: "failed";
  readonly cause: unknown;
  readonly source: FaultSource;
}

/** The caller's signal or a timeout ended it. */
interface Stopped extends Reached {
  readonly kind: "stopped";
  readonly reason: StopReason;
  readonly phase: TimeoutPhase;
}

/** The caller's `onRequest` failed, so nothing was sent. */
interface Prevented {
  readonly kind: "prevented";
  readonly cause: unknown;
}

/** What one request came to, if it was no success. Errors are made and retries are decided from this value. */
export type Failure = Refused | Oversized | Failed | Stopped | Prevented;

/** What one request came to. */
export type Exchange = Received | Failure;

/** The exchange that a deadline has ended; before a request was sent, unless said otherwise. */
export function stopped(deadline: Deadline, phase: TimeoutPhase, reached: Reached = {}): Stopped {
  return { kind: "stopped", reason: deadline.reason ?? "attempt", phase, ...reached };
}

/** Whether the request was handed to `fetch`. */
export function wasSent(exchange: Exchange): boolean {
  return exchange.kind === "stopped" ? exchange.isSent === true : exchange.kind !== "prevented";
}

/** What a response says of its own request. */
export function outcomeOfStatus(status: number): Outcome {
  if (isSuccess(status)) return "accepted";
  return status === 408 || status >= 500 ? "unknown" : "rejected";
}

/** A 401: the token that was refused, and what makes its error. */
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
  /** Makes the error of the latest request that failed, once, when it is asked for: most 429s are waited out and never thrown. */
  lastFailure: (() => AutomationError) | undefined;
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
    if (exchange.kind === "refused" && outcomeOfStatus(exchange.head.status) === "rejected") this.wasRejected = true;
  }

  /** Takes in the error that an attempt ends with, which says what was known before. Returns it. */
  failed(error: AutomationError): AutomationError {
    this.lastFailure = () => error;
    if (error.outcome === "unknown" || error.outcome === "accepted") this.mayBeApplied = true;
    return error;
  }
}
