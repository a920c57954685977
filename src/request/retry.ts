import pRetry from "p-retry";
import { sleep } from "../clock.ts";
import { type AnyAutomationError, isAutomationError } from "../errors/guard.ts";
import type { Call } from "./call.ts";
import { stoppedError } from "./create-error.ts";
import { decideRetry } from "./retry-policy.ts";

/**
 * Runs `attempt` again, up to `retry.attempts` in all, while it fails for a reason that may pass. p-retry counts and
 * repeats; the waits are ours, since p-retry has no delay per failure, and with a signal discards a success that comes
 * with the abort.
 */
export function withRetries<Result>(call: Call, attempt: (call: Call) => Promise<Result>): Promise<Result> {
  const { retry } = call.settings;
  return pRetry(() => attempt(call), {
    retries: retry === false ? 0 : retry.attempts - 1,
    minTimeout: 0,
    // Asked after each failure that another attempt may follow; that attempt begins when this resolves with `true`.
    shouldRetry: ({ error, retriesConsumed }) => isAutomationError(error) && waitToRetry(call, error, retriesConsumed),
  });
}

async function waitToRetry(call: Call, error: AnyAutomationError, retries: number): Promise<boolean> {
  const { deadline, events, operation, settings, history } = call;
  if (deadline.reason !== undefined || error !== history.lastError || settings.retry === false) return false;
  const decision = decideRetry(error, {
    operation,
    rules: settings.retry,
    fault: history.lastFault,
    retries,
    leftMs: deadline.leftMs,
    random: Math.random(),
  });
  if (decision === undefined) return false;
  events?.retry({ ...decision, status: error.status });
  events?.enter("total");
  await sleep(decision.delayMs, deadline.signal);
  const { reason } = deadline;
  if (reason === undefined) return true;
  throw stoppedError(call.facts, { reason, phase: "total", isSent: false }, call.settings.signal);
}
