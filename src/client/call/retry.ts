import pRetry, { type Options } from "p-retry";
import type { AutomationError } from "../errors/automation-error.ts";
import {
  type AnyAutomationError,
  ConnectionError,
  isAutomationError,
  statusMayPass,
  TimeoutError,
} from "../errors/classes.ts";
import type { RetryReason } from "../events.ts";
import { lengthened, shortened } from "../time/clock.ts";
import type { Call } from "./call.ts";
import { stoppedError } from "./create-error.ts";
import { type Operation, rotatesToken } from "./operation.ts";
import type { RetryRules } from "./settings.ts";

/** The other options of p-retry, at its defaults: it would take what stands on `Object.prototype` for them. */
const UNUSED: Options = {
  factor: 2,
  maxTimeout: Number.POSITIVE_INFINITY,
  maxRetryTime: Number.POSITIVE_INFINITY,
  randomize: false,
  unref: false,
  signal: undefined,
  onFailedAttempt: () => {},
  shouldConsumeRetry: () => true,
};

/**
 * Runs `attempt` again, up to `retry.attempts` in all, while it fails for a reason that may pass. p-retry counts and
 * repeats; the waits are ours, since p-retry has no delay per failure, and with a signal discards a success that comes
 * with the abort.
 */
export function withRetries<Result>(call: Call, attempt: () => Promise<Result>): Promise<Result> {
  const { retry } = call.settings;
  return pRetry(attempt, {
    retries: retry === false ? 0 : retry.attempts - 1,
    ...UNUSED,
    minTimeout: 0,
    // Asked after each failure that another attempt may follow; that attempt begins when this resolves with `true`.
    shouldRetry: ({ error, retriesConsumed }) => isAutomationError(error) && waitToRetry(call, error, retriesConsumed),
  });
}

async function waitToRetry(call: Call, error: AnyAutomationError, retries: number): Promise<boolean> {
  const { deadline, events, history, operation, settings } = call;
  if (deadline.reason !== undefined || settings.retry === false) return false;
  const decision = decideRetry(error, {
    operation,
    rules: settings.retry,
    retries,
    leftMs: deadline.leftMs,
    random: Math.random(),
  });
  if (decision === undefined) return false;
  history.lastFailure = () => error;
  history.mayBeApplied ||= error.outcome === "unknown" || error.outcome === "accepted";
  events?.retry({ ...decision, status: error.status });
  try {
    await deadline.sleep(decision.delayMs);
    return true;
  } catch {
    throw stoppedError(call, { deadline, phase: "total" });
  }
}

/** The values that a retry decision is made from. */
export interface RetryContext {
  readonly operation: Pick<Operation<unknown>, "method" | "path">;
  readonly rules: RetryRules;
  /** Retries of this call so far. */
  readonly retries: number;
  /** Milliseconds left of the call's `totalTimeoutMs`. */
  readonly leftMs: number;
  /** In [0, 1). */
  readonly random: number;
}

/** Why a call is sent again, and after how long. */
export interface RetryDecision {
  readonly reason: Exclude<RetryReason, "rate_limit" | "unauthorized">;
  readonly delayMs: number;
}

/** A wait of one call, which delays no other call, can be spread more than the pause of a token. */
const RETRY_AFTER_JITTER = 1 / 10;
const BACKOFF_JITTER = 1 / 2;
const MAX_DOUBLINGS = 30;

/**
 * The retry table of the public promise: whether a call that failed is sent again, and when. `undefined`: it is not.
 * A 429 and a 401 are not in it: the rate limiter and the token source answer them within an attempt.
 */
export function decideRetry(error: AutomationError, context: RetryContext): RetryDecision | undefined {
  const { rules, leftMs, random } = context;
  const reason = passingReason(error, context);
  if (reason === undefined) return undefined;
  if (reason !== "unavailable" || error.retryAfterMs === undefined) return { reason, delayMs: backOff(context) };
  // Never earlier than asked: a wait that is too long or does not fit fails now.
  const delayMs = lengthened(error.retryAfterMs, RETRY_AFTER_JITTER, random);
  return error.retryAfterMs > rules.maxRetryAfterMs || delayMs >= leftMs ? undefined : { reason, delayMs };
}

/** Why the failure may pass and the call may be sent again, or `undefined`. */
function passingReason(error: AutomationError, context: RetryContext): RetryDecision["reason"] | undefined {
  if (error instanceof ConnectionError) {
    if (error.permanent) return undefined;
    return error.outcome === "not_sent" || mayRepeat(error, context) ? "connection" : undefined;
  }
  if (error instanceof TimeoutError) {
    const wasSent = error.phase === "headers" || error.phase === "body";
    return wasSent && mayRepeat(error, context) ? "timeout" : undefined;
  }
  const { status } = error;
  if (status === undefined || !statusMayPass(status) || !mayRepeat(error, context)) return undefined;
  return status === 503 && error.retryAfterMs !== undefined ? "unavailable" : "server_error";
}

// There is no idempotency key: a write that may have been applied is not sent again, unless its caller accepts duplicates.
function mayRepeat(error: AutomationError, { operation, rules }: RetryContext): boolean {
  const { method } = operation;
  if (method === "GET" || method === "HEAD" || method === "DELETE") return true;
  return rules.unsafeWrites && !rotatesToken(operation) && error.outcome !== "accepted";
}

function backOff({ rules, retries, random }: RetryContext): number {
  const doubled = rules.minDelayMs * 2 ** Math.min(retries, MAX_DOUBLINGS);
  return shortened(Math.min(doubled, rules.maxDelayMs), BACKOFF_JITTER, random);
}
