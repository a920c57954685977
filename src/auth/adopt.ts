import { ArgumentError, ResponseValidationError } from "../errors/client-errors.ts";
import type { CreatedToken } from "../models.ts";
import { StaticToken } from "./static-token.ts";
import { usableFieldsIn } from "./token-format.ts";
import type { TokenSource } from "./token-source.ts";

/**
 * Rotates the client's own token and makes the replacement the client's token. Calls that are answered 401 meanwhile
 * wait for it. If the response is invalid but has a usable `plaintext`, that is adopted all the same, since the old token
 * is revoked by then; the error is thrown nevertheless.
 *
 * @throws `ArgumentError` if the client's token is not a static one.
 */
export async function adoptReplacement(
  credential: TokenSource,
  rotate: () => Promise<CreatedToken>,
): Promise<CreatedToken> {
  if (!(credential instanceof StaticToken)) {
    const message = "tokens.rotate: adopt is for a static token; this client has a token provider or a rotating token";
    throw new ArgumentError(message, { outcome: "not_sent" });
  }
  const finish = credential.beginRotation();
  try {
    const replacement = await rotate();
    credential.set(replacement.plaintext);
    return replacement;
  } catch (error) {
    const { plaintext } = error instanceof ResponseValidationError ? usableFieldsIn(error.rawBody) : {};
    if (plaintext !== undefined) credential.set(plaintext);
    throw error;
  } finally {
    finish();
  }
}
