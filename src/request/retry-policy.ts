import { AuthenticationError, RateLimitError } from "../errors/api-errors.ts";
import type { AutomationError } from "../errors/automation-error.ts";
import { ConnectionError, TimeoutError } from "../errors/client-errors.ts";
import { statusMayPass } from "../errors/may-pass.ts";
import type { RetryReason } from "../events.ts";
import { lengthened, shortened } from "../jitter.ts";
import type { Fault } from "./connection-fault.ts";
import type { Method } from "./operation.ts";
import type { RetryRules } from "./settings.ts";

/** What a verdict goes by. */
export interface RetryContext {
  readonly method: Method;
  readonly rotatesToken: boolean;
  readonly rules: RetryRules;
  /** Failures that may pass, this one included. */
  readonly failures: number;
  /** 429s, this one included. */
  readonly refusals: number;
  /** The call has been sent with another token after a 401 before. */
  readonly reauthenticated: boolean;
  readonly fault: Fault | undefined;
  /** In [0, 1). */
  readonly random: number;
}

type PassingReason = Exclude<RetryReason, "rate_limit" | "unauthorized">;

/**
 * Why a failed call is sent again: `rate_limit` when the rate limiter lets it, `unauthorized` if another token can be had,
 * and anything else after `delayMs` of its own. `undefined`: it is not.
 */
export type RetryDecision =
  | { readonly reason: "rate_limit" | "unauthorized"; readonly delayMs?: undefined }
  | { readonly reason: PassingReason; readonly delayMs: number }
  | undefined;

/** A wait of one call, which nobody else waits for, can be spread more than the pause of a token. */
const RETRY_AFTER_JITTER = 1 / 10;
const BACKOFF_JITTER = 1 / 2;
const MAX_DOUBLINGS = 30;

/** The retry table of the public promise, row by row. Pure: what happened in, what to do out. */
export function decideRetry(failure: AutomationError, evidence: RetryContext): RetryDecision {
  const { rules } = evidence;
  if (failure instanceof RateLimitError) return judgeRateLimit(failure, evidence);
  if (failure instanceof AuthenticationError) {
    const isOff = rules.attempts === 1 && rules.rateLimitWaits === 0;
    return isOff || evidence.reauthenticated ? undefined : { reason: "unauthorized" };
  }
  const reason = passingReason(failure, evidence);
  if (reason === undefined || evidence.failures >= rules.attempts) return undefined;
  if (reason !== "unavailable" || failure.retryAfterMs === undefined) return backOff(reason, evidence);
  if (failure.retryAfterMs > rules.maxRetryAfterMs) return undefined;
  return { reason, delayMs: lengthened(failure.retryAfterMs, RETRY_AFTER_JITTER, evidence.random) };
}

// The service did no work, so this is for every method.
function judgeRateLimit(failure: RateLimitError, { rules, refusals }: RetryContext): RetryDecision {
  if (refusals > rules.rateLimitWaits) return undefined;
  if ((failure.retryAfterMs ?? 0) > rules.maxRetryAfterMs) return undefined;
  return { reason: "rate_limit" };
}

/** Why the failure may pass and the call may be sent again, or `undefined`. */
function passingReason(failure: AutomationError, evidence: RetryContext): PassingReason | undefined {
  if (failure instanceof ConnectionError) {
    if (evidence.fault === "never_sent") return "connection";
    return evidence.fault === "lost" && mayRepeat(failure, evidence) ? "connection" : undefined;
  }
  if (failure instanceof TimeoutError) {
    const wasSent = failure.phase === "headers" || failure.phase === "body";
    return wasSent && mayRepeat(failure, evidence) ? "timeout" : undefined;
  }
  const { status } = failure;
  if (status === undefined || !statusMayPass(status) || !mayRepeat(failure, evidence)) return undefined;
  return status === 503 && failure.retryAfterMs !== undefined ? "unavailable" : "server_error";
}

// There is no idempotency key: a write that may have been applied is not sent again, unless its caller accepts duplicates.
function mayRepeat(failure: AutomationError, { method, rotatesToken, rules }: RetryContext): boolean {
  if (method === "GET" || method === "HEAD" || method === "DELETE") return true;
  return rules.unsafeWrites && !rotatesToken && failure.outcome !== "accepted";
}

function backOff(reason: PassingReason, { rules, failures, random }: RetryContext): RetryDecision {
  const doubled = rules.minDelayMs * 2 ** Math.min(failures - 1, MAX_DOUBLINGS);
  return { reason, delayMs: shortened(Math.min(doubled, rules.maxDelayMs), BACKOFF_JITTER, random) };
}
