import { argument } from "../check.ts";
import { beginStackInCaller } from "../errors/caller-stack.ts";
import { type AnyAutomationError, isAutomationError } from "../errors/guard.ts";
import { attempt } from "./attempt.ts";
import { Call, type Pipeline } from "./call.ts";
import { exchangeError, stoppedError } from "./create-error.ts";
import type { CallOptions, Operation, Send } from "./operation.ts";
import { readOutput } from "./response.ts";
import { withRetries } from "./retry.ts";

/**
 * The way of every call: arguments are checked, attempts are made until one succeeds or none may follow, and the response
 * is validated. Rejects with errors of this library only, and never throws.
 */
export function createSend(pipeline: Pipeline): Send {
  return async function send<Output>(
    describe: () => Operation<Output>,
    options: CallOptions | undefined,
  ): Promise<Output> {
    let call: Call | undefined;
    let failure: AnyAutomationError | undefined;
    try {
      call = argument.guarded(() => new Call(pipeline, describe(), options));
      return (await run(call)) as Output; // the schema of the operation says that it is one
    } catch (error) {
      failure = ownError(call, error);
      beginStackInCaller(failure, send);
      throw failure;
    } finally {
      call?.finish(failure);
    }
  };
}

async function run(call: Call): Promise<unknown> {
  const { reason } = call.deadline;
  if (reason !== undefined) {
    throw stoppedError(call.facts, { reason, phase: "queue", isSent: false }, call.settings.signal);
  }
  const output = await readOutput(call, await withRetries(call, attempt));
  call.events?.output(output);
  return output;
}

// Only a rate limiter or a token source of the caller's own can throw anything foreign this far, before a request or after.
function ownError(call: Call | undefined, error: unknown): AnyAutomationError {
  if (isAutomationError(error) || call === undefined) return error as AnyAutomationError; // arguments fail with ours alone
  const notSent = call.history.requests === 0;
  const fault = { fault: "permanent", notSent, platformCode: undefined } as const;
  return exchangeError(call.facts, { kind: "failed", fault, cause: error }, undefined) as AnyAutomationError; // a ConnectionError
}
