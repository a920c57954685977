import { argument } from "../check.ts";
import { type AnyAutomationError, isAutomationError } from "../errors/guard.ts";
import { attempt } from "./attempt.ts";
import { Call, type Pipeline } from "./call.ts";
import { disconnected, stopped } from "./create-error.ts";
import type { CallOptions, Operation, Send } from "./operation.ts";
import { withRetries } from "./retry.ts";
import { interpret } from "./validate.ts";

/**
 * The way of every call: arguments are checked, attempts are made until one succeeds or none may follow, and the answer
 * is validated. Rejects with nothing but this library's errors, and never throws.
 */
export function createSend(pipeline: Pipeline): Send {
  return async <Output>(describe: () => Operation<Output>, options: CallOptions | undefined): Promise<Output> => {
    const call = argument.guarded(() => new Call(pipeline, describe(), options));
    let failure: AnyAutomationError | undefined;
    try {
      if (call.budget.reason !== undefined) throw stopped(call);
      const output = await interpret(call, await withRetries(call, attempt));
      call.report?.output(output);
      return output as Output; // the schema of the operation says that it is one
    } catch (error) {
      // Only a rate limiter of the caller's own could bring anything foreign this far.
      failure = isAutomationError(error) ? error : disconnected(call, { cause: error, isNetwork: false });
      throw failure;
    } finally {
      call.finish(failure);
    }
  };
}
