import { ArgumentError } from "../errors/client-errors.ts";
import type { CreatedToken } from "../models.ts";
import { StaticToken } from "./static-token.ts";
import { usableFieldsOf } from "./token-format.ts";
import type { TokenSource } from "./token-source.ts";

/**
 * Rotates the client's own token and makes the replacement the client's token. Calls that are answered 401 meanwhile
 * wait for it. If the response is invalid or cut off but has a usable `plaintext`, that is adopted all the same, since the
 * old token is revoked by then; the error is thrown nevertheless.
 *
 * @throws `ArgumentError` if the client's token is not a static one.
 */
export async function adoptReplacement(
  source: TokenSource,
  rotate: () => Promise<CreatedToken>,
): Promise<CreatedToken> {
  if (!(source instanceof StaticToken)) {
    const message = "tokens.rotate: adopt is for a static token; this client has a token provider or a rotating token";
    throw new ArgumentError(message, { outcome: "not_sent" });
  }
  const finish = source.beginRotation();
  try {
    const replacement = await rotate();
    source.set(replacement.plaintext);
    return replacement;
  } catch (error) {
    const { plaintext } = usableFieldsOf(error);
    if (plaintext !== undefined) source.set(plaintext);
    throw error;
  } finally {
    finish();
  }
}
