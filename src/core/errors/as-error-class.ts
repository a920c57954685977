import { InvalidInput } from "../checks/invalid-input.ts";
import { type ErrorDetails, isBrandedError } from "./automation-error.ts";

/**
 * The boundary of all checks: runs `read`, which reads the arguments of a caller. Invalid input becomes an error of a class
 * (`ConfigError` for options of a client, `ArgumentError` for those of a call), and so does whatever a getter of the
 * caller's throws. `toMessage` may add to the message.
 */
export function asErrorClass<Result>(
  ErrorClass: new (message: string, details: ErrorDetails) => Error,
  read: () => Result,
  toMessage: (problem: string) => string = (problem) => problem,
): Result {
  try {
    return read();
  } catch (error) {
    if (isBrandedError(error)) throw error;
    const { message, cause } =
      error instanceof InvalidInput ? error : { message: "an argument cannot be read", cause: error };
    throw new ErrorClass(toMessage(message), { outcome: "not_sent", cause });
  }
}
