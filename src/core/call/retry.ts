import pRetry from "p-retry";
import { type AnyAutomationError, isAutomationError } from "../errors/classes.ts";
import type { Call } from "./call.ts";
import { stoppedError } from "./create-error.ts";
import { decideRetry } from "./decide-retry.ts";

/** Runs `attempt` again while it fails for a reason that may pass: p-retry counts and repeats, the waits are ours. */
export function withRetries<Result>(call: Call, attempt: () => Promise<Result>): Promise<Result> {
  const { retry } = call.settings;
  return pRetry(attempt, {
    retries: retry === false ? 0 : retry.attempts - 1,
    minTimeout: 0,
    // Asked after each failure that another attempt may follow; that attempt begins when this resolves with `true`.
    shouldRetry: ({ error, retriesConsumed }) => isAutomationError(error) && waitToRetry(call, error, retriesConsumed),
  });
}

async function waitToRetry(call: Call, error: AnyAutomationError, retries: number): Promise<boolean> {
  const { deadline, events, operation, settings } = call;
  if (deadline.reason !== undefined || settings.retry === false) return false;
  const decision = decideRetry(error, {
    operation,
    rules: settings.retry,
    retries,
    leftMs: deadline.leftMs,
    random: Math.random(),
  });
  if (decision === undefined) return false;
  call.lastFailure = error;
  call.note("again");
  events?.retry({ ...decision, status: error.status });
  try {
    await deadline.sleep(decision.delayMs);
    return true;
  } catch {
    throw stoppedError(call, { deadline, phase: "total" });
  }
}
