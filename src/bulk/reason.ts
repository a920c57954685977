import type { AnyAutomationError, AutomationError } from "../client/index.ts";
import { describeValue, isObject } from "../core/checks/values.ts";
import { shownLine } from "./thrown.ts";

/** The reason why an item is not `done`. Plain data, without secrets: the journal keeps it for later runs. */
export interface BulkReason {
  /**
   * The `kind` of the error. `"interrupted"`: the process ended before it could record how the request ended, or while the
   * item waited to be sent again.
   */
  readonly kind: AnyAutomationError["kind"] | "interrupted";
  /** HTTP status of the response, if there was one. */
  readonly status?: number | undefined;
  /** The service's error code. */
  readonly code?: string | undefined;
  /** The service's own sentence if it sent one, else the message of the error. One line of at most 300 characters. */
  readonly message: string;
  /** The `x-request-id` of the response. */
  readonly requestId?: string | undefined;
  /** When it was recorded: ISO 8601, by the clock of the process. */
  readonly recordedAt: string;
}

const INTERRUPTED =
  "the run ended after the request was recorded, and before its response was: the item was written once, or not at all";

export function reasonOf(error: AutomationError): BulkReason {
  const { status, code, requestId } = error;
  return {
    kind: error.kind as BulkReason["kind"], // each class of the library has one of them
    ...(status === undefined ? {} : { status }),
    ...(code === undefined ? {} : { code }),
    message: shownLine(error.detail ?? error.message),
    ...(requestId === undefined ? {} : { requestId }),
    recordedAt: new Date().toISOString(),
  };
}

/** The reason of an item whose last record says that its request was about to leave. `recordedAt`: when that was recorded. */
export function interruptedReason(recordedAt: string): BulkReason {
  return { kind: "interrupted", message: INTERRUPTED, recordedAt };
}

export function waitingReason(): BulkReason {
  const message = "the run ended while the item waited to be sent again";
  return { kind: "interrupted", message, recordedAt: new Date().toISOString() };
}

export function problemOfReason(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (!isObject(value)) return `must have an object as its reason, if any, not ${describeValue(value)}`;
  const { kind, status, code, message, requestId, recordedAt }: Partial<Record<keyof BulkReason, unknown>> = value;
  const texts = [kind, message, code ?? "", requestId ?? "", recordedAt];
  const isReason = texts.every((text) => typeof text === "string") && ["number", "undefined"].includes(typeof status);
  return isReason ? undefined : "must have a reason with the strings kind, message and recordedAt";
}
