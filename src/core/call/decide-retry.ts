import { rangeOf } from "../checks/validators.ts";
import type { AutomationError } from "../errors/automation-error.ts";
import { ConnectionError, isAutomationError, TimeoutError } from "../errors/classes.ts";
import type { RetryReason } from "../events.ts";
import { lengthened, shortened } from "../time/jitter.ts";
import { isSuccess } from "../wire/head.ts";
import { isWrite } from "../wire/method.ts";
import { type Operation, rotatesToken } from "./operation.ts";
import type { RetryRules } from "./settings.ts";

export interface RetryContext {
  readonly operation: Pick<Operation<unknown>, "method" | "path">;
  readonly rules: RetryRules;
  readonly retries: number;
  readonly leftMs: number;
  readonly random: number;
}

interface BackoffContext extends Pick<RetryContext, "retries" | "random"> {
  readonly rules: Pick<RetryRules, "minDelayMs" | "maxDelayMs">;
}

interface RetryDecision {
  readonly reason: Exclude<RetryReason, "rate_limit" | "unauthorized">;
  readonly delayMs: number;
}

/** A wait of one call, which delays no other call, can be spread more than the pause of a token. */
const RETRY_AFTER_JITTER = 1 / 10;

const BACKOFF_JITTER = 1 / 2;

const MAX_DOUBLINGS = 30;

export const DEFAULT_DELAYS = {
  minDelayMs: 500,
  maxDelayMs: 8_000,
};

/**
 * The retry table of the public promise: whether a call that failed is sent again, and when. `undefined`: it is not.
 * A 429 and a 401 are not in it: the rate limiter and the token source answer them within an attempt.
 */
export function decideRetry(error: AutomationError, context: RetryContext): RetryDecision | undefined {
  const { rules, leftMs, random } = context;
  const reason = passingReason(error, context);
  if (reason === undefined) return undefined;
  const backoffMs = backOff(context);
  if (reason !== "unavailable" || error.retryAfterMs === undefined) return { reason, delayMs: backoffMs };
  // Never earlier than asked: a wait that is too long or does not fit fails now.
  const delayMs = Math.max(backoffMs, lengthened(error.retryAfterMs, RETRY_AFTER_JITTER, random));
  return error.retryAfterMs > rules.maxRetryAfterMs || delayMs >= leftMs ? undefined : { reason, delayMs };
}

function passingReason(error: AutomationError, context: RetryContext): RetryDecision["reason"] | undefined {
  if (error instanceof ConnectionError) {
    if (error.permanent) return undefined;
    return error.outcome === "not_sent" || mayRepeat(error.status, context) ? "connection" : undefined;
  }
  if (error instanceof TimeoutError) {
    const isSent = error.phase === "headers" || error.phase === "body";
    return isSent && mayRepeat(error.status, context) ? "timeout" : undefined;
  }
  const { status } = error;
  if (status === undefined || !statusMayPass(status) || !mayRepeat(status, context)) return undefined;
  return error.retryAfterMs === undefined ? "server_error" : "unavailable";
}

interface Repeatable extends Pick<RetryContext, "operation"> {
  readonly rules: Pick<RetryRules, "unsafeWrites">;
}

/**
 * Returns whether a call may be sent again after a status that may pass, or after none. There is no idempotency key: a write
 * that may have been applied is not, unless its caller accepts duplicates.
 */
export function mayRepeat(status: number | undefined, { operation, rules }: Repeatable): boolean {
  const { method } = operation;
  if (!isWrite(method) || method === "DELETE") return true;
  return rules.unsafeWrites && !rotatesToken(operation) && !isSuccess(status ?? 0);
}

/** The wait before the next attempt, in milliseconds: it doubles from `minDelayMs` to `maxDelayMs`, and has a random part. */
export function backOff({ rules, retries, random }: BackoffContext): number {
  const { minDelayMs, maxDelayMs } = DEFAULT_DELAYS;
  const [first, longest] = rangeOf([rules.minDelayMs, rules.maxDelayMs], [minDelayMs, maxDelayMs]);
  const doubled = first * 2 ** Math.min(retries, MAX_DOUBLINGS);
  return shortened(Math.min(doubled, longest), BACKOFF_JITTER, random);
}

/** `true` for a status after which the same request may succeed later (the table of docs/retries.md). */
export function statusMayPass(status: number): boolean {
  return status === 408 || status === 500 || (status >= 502 && status <= 504) || (status >= 520 && status <= 529);
}

/**
 * `true` for an error whose reason may pass: a lost or refused connection, a timeout, a 5xx or 408 that is retried, a rate
 * limit, a page in the place of the service's response. Others do not: the service has refused the request, it cannot be
 * sent, or the service's response cannot be used.
 */
export function mayPass(error: unknown): boolean {
  if (!isAutomationError(error)) return false;
  if (error.kind === "connection") return error.permanent !== true;
  if (error.kind === "parse") return error.outcome !== "accepted";
  return error.kind === "timeout" || error.kind === "rate_limit" || statusMayPass(error.status ?? 0);
}
