import { ArgumentError, ResponseValidationError } from "../errors/client-errors.ts";
import type { CreatedToken } from "../models.ts";
import { StaticToken } from "./static-token.ts";
import { flawOfToken } from "./token-format.ts";
import type { TokenSource } from "./token-source.ts";

/**
 * Rotates the client's own token and goes on with the replacement. Calls that are refused meanwhile wait for it. If the
 * answer is not as expected but holds a usable `plaintext`, that is adopted all the same, since the old token is dead by
 * then; the error is told nevertheless.
 */
export async function adoptReplacement(
  credential: TokenSource,
  rotate: () => Promise<CreatedToken>,
): Promise<CreatedToken> {
  if (!(credential instanceof StaticToken)) {
    const message = "tokens.rotate: adopt: a token provider or a rotating token alone decides the token";
    throw new ArgumentError(message, { outcome: "not_sent" });
  }
  const finish = credential.beginRotation();
  try {
    return await rotateInto(credential, rotate);
  } finally {
    finish();
  }
}

async function rotateInto(credential: StaticToken, rotate: () => Promise<CreatedToken>): Promise<CreatedToken> {
  try {
    const replacement = await rotate();
    credential.set(replacement.plaintext);
    return replacement;
  } catch (error) {
    const plaintext = error instanceof ResponseValidationError ? plaintextIn(error.rawBody) : undefined;
    if (plaintext !== undefined) credential.set(plaintext);
    throw error;
  }
}

/** A usable `plaintext` in the text of an answer that was otherwise not as expected. */
export function plaintextIn(rawBody: string | undefined): string | undefined {
  try {
    const body: unknown = JSON.parse(rawBody ?? "");
    const plaintext = typeof body === "object" && body !== null && "plaintext" in body ? body.plaintext : undefined;
    return typeof plaintext === "string" && flawOfToken(plaintext) === undefined ? plaintext : undefined;
  } catch {
    return undefined;
  }
}
