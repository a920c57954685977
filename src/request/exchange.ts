import type { TimeoutPhase } from "../errors/automation-error.ts";
import type { ConnectionFault } from "./connection-fault.ts";
import type { StopReason } from "./deadline.ts";

/** The head of a response: what is known before its body is read. */
export interface ResponseHead {
  /** The HTTP status; 0 for a redirect that a browser hides. */
  readonly status: number;
  readonly headers: Headers;
  /** A 3xx, also one that a browser hides behind an opaque response. */
  readonly isRedirect: boolean;
}

/** A response that was received. `text`: its body, `undefined` if it was not needed or, of a refusal, not read in time. */
export interface Received {
  readonly kind: "received";
  readonly head: ResponseHead;
  readonly text: string | undefined;
  /** How long the pause lasts that it began, in milliseconds, if it is a 429. */
  readonly pauseMs?: number | undefined;
}

/** A success whose body is larger than `maxResponseBytes`. */
interface Oversized {
  readonly kind: "oversized";
  readonly head: ResponseHead;
}

/** A success whose body was cut off. `text`: the part that was received. */
interface Cut {
  readonly kind: "cut";
  readonly head: ResponseHead;
  readonly text: string;
  readonly cause: unknown;
}

/** No response: the connection failed. */
interface Failed {
  readonly kind: "failed";
  readonly fault: ConnectionFault;
  readonly cause: unknown;
}

/** The caller's signal or a timeout ended it. */
export interface Stopped {
  readonly kind: "stopped";
  readonly reason: StopReason;
  readonly phase: TimeoutPhase;
  /** The request was handed to `fetch`. */
  readonly isSent: boolean;
  readonly head?: ResponseHead | undefined;
  /** The part of a success's body that was received. */
  readonly text?: string | undefined;
}

/** The caller's `onRequest` failed, so nothing was sent. */
interface Prevented {
  readonly kind: "prevented";
  readonly cause: unknown;
}

/** What one request came to. Errors are made and retries are decided from this value. */
export type Exchange = Received | Oversized | Cut | Failed | Stopped | Prevented;

/** Whether a status is a success, a 2xx. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
