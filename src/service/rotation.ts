import type { OperationFields } from "../core/call/operation.ts";
import { pathOf } from "../core/wire/path.ts";
import type { CreatedToken } from "./models.ts";
import { createdTokenValidator, sendableTokenValidator } from "./schemas/validators.ts";

/** Rotates the token of an id. `isSent`: the client goes on with the replacement, so it must hold also where validation is lenient. */
export function rotation(id: string, isSent: boolean): Omit<OperationFields<CreatedToken>, "options"> {
  return {
    method: "POST",
    path: pathOf("/me/tokens/{id}/rotate", { id }),
    fields: [],
    schema: createdTokenValidator,
    lenientSchema: isSent ? sendableTokenValidator : undefined,
  };
}
