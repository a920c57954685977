import type { OperationFields } from "../core/call/operation.ts";
import { pathOf } from "../core/wire/path.ts";
import type { CreatedToken } from "./models.ts";
import { adoptedTokenValidator, createdTokenValidator, sendableTokenValidator } from "./schemas/validators.ts";

/** Rotates the token of an id. `isSent`: the replacement must be one that can be sent. */
export function rotation(id: string, isSent: boolean): Omit<OperationFields<CreatedToken>, "options"> {
  return {
    method: "POST",
    path: pathOf("/me/tokens/{id}/rotate", { id }),
    fields: [],
    schema: isSent ? adoptedTokenValidator : createdTokenValidator,
    lenientSchema: isSent ? sendableTokenValidator : undefined,
  };
}
