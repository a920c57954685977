import pRetry from "p-retry";
import { sleep } from "../clock.ts";
import { RateLimitError } from "../errors/api-errors.ts";
import { isAutomationError } from "../errors/guard.ts";
import type { Call } from "./call.ts";
import { stopped } from "./create-error.ts";
import { decideRetry } from "./retry-policy.ts";

/** Attempts a call until it succeeds or must not be sent again. p-retry drives the attempts; the waits are ours. */
export function withRetries<Result>(call: Call, attempt: (call: Call) => Promise<Result>): Promise<Result> {
  return pRetry(() => attempt(call), {
    retries: Number.POSITIVE_INFINITY,
    minTimeout: 0,
    // Runs after a failure, and only if it resolves `true` is there another attempt: the one hook that can wait.
    shouldRetry: ({ error }) => prepareRetry(call, error),
  });
}

async function prepareRetry(call: Call, error: Error): Promise<boolean> {
  const { progress, budget, operation, report } = call;
  if (!isAutomationError(error) || budget.reason !== undefined) return false;
  // Not an answer of the service: the rate limiter has held it back.
  if (error instanceof RateLimitError && progress.response === undefined) return false;
  progress.fail(error);
  report?.fail();
  const verdict = decideRetry(error, {
    method: operation.method,
    rotatesToken: operation.rotatesToken === true,
    rules: call.retry,
    failures: progress.failures,
    refusals: progress.refusals,
    reauthenticated: progress.unauthorized !== undefined,
    fault: progress.fault,
    random: Math.random(),
  });
  if (verdict === undefined) return false;
  const { reason } = verdict;
  if (reason === "unauthorized") {
    if (!(await canReplaceToken(call))) return false;
    progress.unauthorized = { error, token: progress.token };
    progress.renewing = true;
    return true;
  }
  const delayMs = verdict.delayMs ?? progress.pauseMs;
  // A wait that the service asked for and that does not fit is not begun.
  if ((reason === "rate_limit" || reason === "unavailable") && delayMs >= budget.leftMs) return false;
  report?.retry(reason, delayMs, error.status);
  if (reason !== "rate_limit") {
    call.enter("total");
    await sleep(delayMs, budget.signal);
    if (budget.reason !== undefined) throw stopped(call);
  }
  return true;
}

async function canReplaceToken(call: Call): Promise<boolean> {
  const { operation, pipeline, progress, budget } = call;
  const { credential } = pipeline;
  call.enter("total");
  try {
    // A rotation must not wait for rotations, of which it may be one.
    if (!operation.rotatesToken) await budget.race(credential.settled(progress.token));
  } catch {
    throw stopped(call);
  }
  return credential.canReplace(progress.token);
}
