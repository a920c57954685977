import { functions, mapped, type RequiredValidator, required } from "../core/checks/validators.ts";
import { describeValue, isPromise } from "../core/checks/values.ts";
import { ArgumentError } from "../core/errors/classes.ts";
import type { Session } from "./models.ts";

type Until = (session: Session) => boolean | Promise<boolean>;

/** `until` of a wait, which has to return a boolean: without a `return` it would never end the wait. */
export const UNTIL: RequiredValidator<Until> = required(
  mapped(functions<Until>(), (until) => (session) => {
    const result = until(session);
    return isPromise(result) ? result.then(parseResult) : parseResult(result);
  }),
);

function parseResult(result: boolean): boolean {
  if (typeof result === "boolean") return result;
  const hint = result === undefined ? ": does it lack a return?" : "";
  throw new ArgumentError(`sessions.waitFor: until must return true or false, not ${describeValue(result)}${hint}`);
}
