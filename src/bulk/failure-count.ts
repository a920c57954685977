import type { AutomationError } from "../client/index.ts";
import { backOff, mayPass } from "../core/call/decide-retry.ts";
import type { RetryRules } from "../core/call/settings.ts";

/** The number of items that must get through to take back one failure. */
const TAKE_BACK_ONE = 10;

/** The failures of a run that are not its items', and what follows from them. */
export interface FailureCount {
  readonly failures: number;
  /** All that were counted: by it, an item that was begun after the latest one is known. */
  readonly counted: number;
  readonly inARow: number;
  /** Items that got through since they took back a failure. */
  readonly through: number;
  readonly width: number;
  readonly delayMs: number;
  readonly isOver: boolean;
}

export interface Sent {
  readonly failure?: AutomationError | undefined;
  readonly countedBefore: number;
}

interface FailureRules {
  readonly rules: RetryRules;
  readonly random: number;
  readonly concurrency: number;
  readonly stopAfter: number;
}

export const NO_FAILURES: FailureCount = {
  failures: 0,
  counted: 0,
  inARow: 0,
  through: 0,
  width: Number.POSITIVE_INFINITY,
  delayMs: 0,
  isOver: false,
};

/**
 * The outage rule of the public promise: the next state after an item has ended. An item that was begun before the latest
 * failure says nothing new: it failed together with that one, or got through before it.
 *
 * | the item | failures | width |
 * |---|---|---|
 * | was begun before the latest failure | | |
 * | failed | one more; at `stopAfter` the run stops | 1, after a wait if the failure may pass |
 * | got through | each ten take back one | doubles, up to `concurrency` |
 */
export function afterItem(before: FailureCount, { failure, countedBefore }: Sent, rules: FailureRules): FailureCount {
  if (countedBefore !== before.counted) return before;
  return failure === undefined ? afterThrough(before, rules) : afterFailure(before, failure, rules);
}

function afterThrough(before: FailureCount, { concurrency }: FailureRules): FailureCount {
  const width = 2 * before.width < concurrency ? 2 * before.width : Number.POSITIVE_INFINITY;
  const through = before.failures === 0 ? 0 : before.through + 1;
  const takesBack = through === TAKE_BACK_ONE;
  const failures = takesBack ? before.failures - 1 : before.failures;
  return { ...before, failures, inARow: 0, through: takesBack ? 0 : through, width, delayMs: 0 };
}

function afterFailure(before: FailureCount, failure: AutomationError, rules: FailureRules): FailureCount {
  const failures = before.failures + 1;
  const delayMs = mayPass(failure)
    ? Math.max(backOff({ ...rules, retries: before.inARow }), askedFor(failure, rules))
    : 0;
  return {
    failures,
    counted: before.counted + 1,
    inARow: before.inARow + 1,
    through: before.through,
    width: 1,
    delayMs,
    isOver: failures >= rules.stopAfter,
  };
}

/**
 * Returns whether a read that failed was answered, by the service or by a proxy: by anything but a 5xx. That lets writes begin,
 * whose own answers are judged.
 */
export function isAnswer({ kind, status = 0 }: AutomationError): boolean {
  return kind !== "connection" && kind !== "timeout" && status < 500;
}

/** A 503 may ask for a longer wait. The pause of a rate limit is the limiter's, which each call waits for by itself. */
function askedFor({ kind, retryAfterMs = 0 }: AutomationError, { rules }: FailureRules): number {
  return kind === "server" ? Math.min(retryAfterMs, rules.maxRetryAfterMs) : 0;
}
