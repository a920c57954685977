import { ArgumentError } from "../errors/failures.ts";
import { isAutomationError } from "../errors/guard.ts";
import { attempt } from "./attempt.ts";
import { Call, type Pipeline } from "./call.ts";
import { disconnected, stopped } from "./failure.ts";
import type { CallOptions, Operation, Send } from "./operation.ts";
import { withRetries } from "./retry.ts";
import { interpret } from "./validate.ts";

/**
 * The way of every call: arguments are checked, attempts are made until one succeeds or none may follow, and the answer
 * is validated. Rejects with nothing but this library's errors, and never throws.
 */
export function createSend(pipeline: Pipeline): Send {
  return async <Output>(describe: () => Operation<Output>, options: CallOptions | undefined): Promise<Output> => {
    const call = prepare(() => new Call(pipeline, describe(), options));
    try {
      if (call.budget.reason !== undefined) throw stopped(call);
      const text = await withRetries(call, attempt);
      // The schema of the operation says that it is an Output.
      return (await interpret(call, text)) as Output;
    } catch (error) {
      // Only a rate limiter of the caller's own could bring anything foreign this far.
      throw isAutomationError(error) ? error : disconnected(call, { cause: error, isNetwork: false });
    } finally {
      call.finish();
    }
  };
}

// Looking at arguments runs their getters, which may throw anything.
function prepare(make: () => Call): Call {
  try {
    return make();
  } catch (error) {
    if (isAutomationError(error)) throw error;
    throw new ArgumentError("an argument cannot be read", { outcome: "not_sent", cause: error });
  }
}
