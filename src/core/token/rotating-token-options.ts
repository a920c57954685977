import { invalid } from "../checks/invalid-input.ts";
import {
  ANYTHING,
  functions,
  INVALID,
  listeners,
  numbers,
  type Parsed,
  parseOptions,
  required,
  type Shape,
  validator,
} from "../checks/validators.ts";
import { isRecord } from "../checks/values.ts";
import { asErrorClass } from "../errors/as-error-class.ts";
import { ConfigError } from "../errors/classes.ts";
import { parseToken, type RotatedToken, type StoredToken, TOKEN } from "./token-format.ts";

/** Options of `rotatingToken`. */
export interface RotatingTokenOptions {
  /** The token to start with, as it was stored. A `CreatedToken` can be passed as it is. */
  token: StoredToken;
  /**
   * The time before its expiry at which a token is rotated, in milliseconds. A replacement is used for half its remaining life at
   * least, even if it lives no longer than this. Make it longer than the local clock may be behind.
   *
   * @default 86_400_000 (one day)
   */
  renewBeforeMs?: number | undefined;
  /**
   * Stores the replacement, which is the whole record as the service sent it. It is awaited before the replacement is
   * first used, for at most 20 seconds. If it throws, rejects or takes longer, the waiting calls reject with
   * `TokenProviderError`, `latest()` returns the replacement, and the next call passes the same replacement again: storing
   * it twice must be harmless. It must not wait for a call of a client with this token, since that call waits for it.
   */
  onRotated: (replacement: RotatedToken) => void | Promise<void>;
  /**
   * Is called with the error if a rotation fails, or if its response could be used only in part. What it throws is
   * ignored. The next rotation is tried after a minute at the earliest; that pause doubles with each failure, up to an
   * hour. Meanwhile calls are sent with the old token.
   */
  onRotationFailed?: ((error: unknown) => void) | undefined;
}

const OPTIONS = {
  token: required(
    validator("an object with id, plaintext and expires_at", (value) =>
      isRecord(value) ? parseStoredToken(value) : INVALID,
    ),
  ),
  renewBeforeMs: numbers("a number of milliseconds from 0 up", (value) => Number.isFinite(value) && value >= 0),
  onRotated: required(functions<RotatingTokenOptions["onRotated"]>()),
  onRotationFailed: listeners<unknown>(),
} satisfies Shape<RotatingTokenOptions>;

function parseStoredToken(record: Readonly<Record<string, unknown>>): StoredToken {
  const others = Object.fromEntries(Object.keys(record).map((key) => [key, ANYTHING]));
  const { id, expires_at } = TOKEN;
  const fields = { id: required(id), plaintext: required(ANYTHING), expires_at: required(expires_at) };
  const token = parseOptions(record, "options.token", { ...others, key_id: ANYTHING, ...fields });
  const plaintext = parseToken(token.plaintext, "options.token.plaintext");
  const { key_id: keyId } = token;
  if (typeof keyId === "string" && !plaintext.includes(keyId)) {
    invalid("options.token.plaintext does not hold its key_id: they are of two records");
  }
  return { ...token, plaintext };
}

/** @throws `ConfigError` if an option is invalid; its message never contains the token. */
export function parseRotatingTokenOptions(options: unknown): Parsed<typeof OPTIONS> {
  return asErrorClass(
    ConfigError,
    () => parseOptions(options, "options", OPTIONS),
    (problem) => `rotatingToken: ${problem}`,
  );
}
