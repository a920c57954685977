import pRetry from "p-retry";
import { sleep } from "../clock.ts";
import { isAutomationError } from "../errors/guard.ts";
import { AuthenticationError, RateLimitError } from "../errors/refusals.ts";
import type { Call } from "./call.ts";
import { stopped } from "./failure.ts";
import { judge } from "./verdict.ts";

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
  if (!isAutomationError(error) || call.heldBack || call.budget.reason !== undefined) return false;
  call.lastFailure = error;
  if (error.outcome === "unknown") call.ambiguous = true;
  if (error.outcome === "rejected") call.refusedBefore = true;
  if (error instanceof RateLimitError) {
    call.refusals += 1;
    call.refusal = error;
  } else if (!(error instanceof AuthenticationError)) {
    call.failures += 1;
  }
  const verdict = judge(error, {
    method: call.operation.method,
    rotatesToken: call.operation.rotatesToken === true,
    rules: call.retry,
    failures: call.failures,
    refusals: call.refusals,
    reauthenticated: call.unauthorized !== undefined,
    fault: call.fault,
    random: Math.random(),
  });
  if (!verdict.again) return false;
  const { reason } = verdict;
  if (verdict.after === "token") return await findToken(call, error);
  const delayMs = verdict.after === "gate" ? call.pauseMs : verdict.delayMs;
  // A wait that the service asked for and that does not fit is not begun.
  if ((reason === "rate_limit" || reason === "unavailable") && delayMs >= call.budget.leftMs) return false;
  call.emit({ type: "retry", reason, delayMs, status: error.status });
  if (verdict.after === "delay") await waitOwn(call, delayMs);
  return true;
}

async function waitOwn(call: Call, delayMs: number): Promise<void> {
  call.begin("total");
  await sleep(delayMs, call.budget.signal);
  if (call.budget.reason !== undefined) throw stopped(call);
}

async function findToken(call: Call, error: Error): Promise<boolean> {
  if (!(await canReplaceToken(call))) return false;
  call.unauthorized = { error, token: call.token };
  call.renewing = true;
  return true;
}

async function canReplaceToken(call: Call): Promise<boolean> {
  const { operation, pipeline } = call;
  call.begin("total");
  try {
    const found = pipeline.credential.canReplace(call.token, operation.rotatesToken !== true);
    return await call.budget.race(Promise.resolve(found));
  } catch {
    throw stopped(call);
  }
}
