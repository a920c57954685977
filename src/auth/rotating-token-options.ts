import { Check, FUNCTION, kind, type Present, type Shape, STRING } from "../check.ts";
import { ConfigError } from "../errors/client-errors.ts";
import { flawOfToken, isNonEmptyString, isTimestamp, type StoredToken } from "./token-format.ts";

/** What `rotatingToken` takes. */
export interface RotatingTokenOptions {
  /** The token to start with, as it was stored. A `CreatedToken` can be passed as it is; other fields are ignored. */
  token: StoredToken;
  /**
   * How long before its expiry a token is rotated, in milliseconds. A replacement is used for half its remaining life at
   * least, even if it lives no longer than this. Make it longer than the local clock may be behind.
   *
   * @default 86_400_000 (one day)
   */
  renewBeforeMs?: number | undefined;
  /**
   * Stores the replacement. It is awaited before the replacement is first used, for at most 20 seconds. If it throws,
   * rejects or takes longer, the waiting calls reject with `TokenProviderError`, `latest()` returns the replacement, and
   * the next call passes the same replacement again: storing it twice must be harmless. It must not wait for a call that
   * is sent with this token, since that call waits for it.
   */
  onRotated: (replacement: StoredToken) => void | Promise<void>;
  /**
   * Is called with the error if a rotation fails, or if its response could be used only in part. What it throws is
   * ignored. The next rotation is tried after a minute at the earliest; that pause doubles with each failure, up to an
   * hour. Meanwhile calls are sent with the token that `latest()` returns.
   */
  onRotationFailed?: ((error: unknown) => void) | undefined;
}

const OPTIONS: Shape<RotatingTokenOptions> = {
  token: { ...kind("an object with id, plaintext and expires_at", isObject), required: true },
  renewBeforeMs: kind("a number of milliseconds from 0 up", (value) => Number.isFinite(value) && Number(value) >= 0),
  onRotated: { ...FUNCTION, required: true },
  onRotationFailed: FUNCTION,
};

const TOKEN: Shape<StoredToken> = {
  id: { ...kind("a non-empty string", isNonEmptyString), required: true },
  plaintext: { ...STRING, required: true },
  expires_at: { ...kind("an ISO 8601 timestamp", isTimestamp), required: true },
};

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Reads each option once.
 *
 * @throws `ConfigError` if an option is invalid; its message never contains the token.
 */
export function checkRotatingToken(options: RotatingTokenOptions): Present<RotatingTokenOptions> {
  const check = new Check(ConfigError);
  return check.guarded(() => {
    const given = check.options(options, "rotatingToken: options", OPTIONS);
    const token = check.fields(given.token, "rotatingToken: options.token", TOKEN);
    const flaw = flawOfToken(token.plaintext);
    if (flaw !== undefined) check.fail(`rotatingToken: options.token.plaintext ${flaw}`);
    return { ...given, token };
  });
}
