import type { Deadline, StopReason } from "../base/deadline.ts";
import type { Outcome, TimeoutPhase } from "../errors/automation-error.ts";
import type { ReportedPause } from "../rate-limit/rate-limiter.ts";
import type { ConnectionFault } from "./connection-fault.ts";
import { isSuccess, type ResponseHead } from "./response-head.ts";

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

/** The connection failed: before there was a response, or within the body of a success. */
interface Failed {
  readonly kind: "failed";
  readonly fault: ConnectionFault;
  readonly cause: unknown;
  readonly head?: ResponseHead;
  /** The part of the body that was received. */
  readonly text?: string;
}

/** How far a request came that was stopped. */
interface Reached {
  /** It was handed to `fetch`. */
  readonly isSent?: true;
  readonly head?: ResponseHead | undefined;
  /** The part of a success's body that was received. */
  readonly text?: string | undefined;
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
