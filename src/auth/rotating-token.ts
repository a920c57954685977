import { ConfigError, ResponseValidationError } from "../errors/client-errors.ts";
import { ignoreErrors } from "../ignore-errors.ts";
import type { CreatedToken } from "../models.ts";
import { plaintextIn } from "./adopt.ts";
import { type RenewingState, RotatingTokenSource } from "./rotating-token-source.ts";
import { flawOfToken } from "./token-format.ts";
import { TokenListeners } from "./token-listeners.ts";
import type { Rotate, TokenListener, TokenSource, TokenSourceFactory } from "./token-source.ts";

/** What `rotatingToken` takes. */
export interface RotatingTokenOptions {
  /** The token record's id, as its creation or last rotation gave it. */
  id: string;
  /** The full token. */
  token: string;
  /** When it expires: `expires_at` as it came, or a `Date`. */
  expiresAt: string | Date;
  /**
   * How long before that it is rotated, in milliseconds. Default one day. A replacement is used for half its life at
   * least, also where it lives no longer than this.
   */
  renewBeforeMs?: number | undefined;
  /**
   * Stores the replacement: `id`, `plaintext` and `expires_at`. It is awaited before the replacement is first used. What
   * it throws fails the calls that wait with `TokenProviderError`; the replacement is kept, and offered again at the
   * next use.
   */
  onRotated: (replacement: CreatedToken) => void | Promise<void>;
  /**
   * Is told when a rotation failed while the token is still good, or when its answer could be used only in part: the
   * token in force is then `latest().token`. It is tried again a minute later at the earliest.
   */
  onRotationFailed?: ((error: unknown) => void) | undefined;
}

/** The state of a token that renews itself. Pass it as `token`, to one client or to several. */
export interface RotatingToken extends TokenSourceFactory {
  /** The token in force, secret included: what to store if `onRotated` could not. */
  latest(): { readonly id: string; readonly token: string; readonly expiresAt: Date };
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** After a rotation that failed while the token is still good. */
const TRY_AGAIN_AFTER_MS = 60_000;

/**
 * A token that renews itself: ahead of its expiry the next call that needs it rotates it, once, however many calls ask,
 * and goes on with the replacement, whose own `id` and `expires_at` count from then on. Nothing runs while nobody calls.
 *
 * Throws `ConfigError` for options that cannot be.
 *
 * @example
 * const token = rotatingToken({ ...stored, onRotated: ({ id, plaintext, expires_at }) => store(id, plaintext, expires_at) });
 * const client = new Client({ baseUrl, token });
 */
export function rotatingToken(options: RotatingTokenOptions): RotatingToken {
  return new SelfRenewingToken(options);
}

class SelfRenewingToken implements RotatingToken, RenewingState {
  #id: string;
  #token: string;
  #expiresAt: number;
  readonly #renewBeforeMs: number;
  readonly #onRotated: RotatingTokenOptions["onRotated"];
  readonly #onRotationFailed: RotatingTokenOptions["onRotationFailed"];
  /** A replacement that has not been stored yet. */
  #unstored: CreatedToken | undefined;
  #renewal: Promise<string> | undefined;
  readonly #dependents = new TokenListeners();
  #renewAt: number;

  constructor(options: RotatingTokenOptions) {
    const { id, token, expiresAt, renewBeforeMs = DAY_MS, onRotated, onRotationFailed } = checked(options);
    this.#id = id;
    this.#token = token;
    this.#expiresAt = timeOf(expiresAt);
    this.#renewBeforeMs = renewBeforeMs;
    this.#renewAt = this.#expiresAt - renewBeforeMs;
    this.#onRotated = onRotated;
    this.#onRotationFailed = onRotationFailed;
  }

  latest(): { readonly id: string; readonly token: string; readonly expiresAt: Date } {
    return { id: this.#id, token: this.#token, expiresAt: new Date(this.#expiresAt) };
  }

  toCredential(rotate: Rotate): TokenSource {
    return new RotatingTokenSource(this, rotate);
  }

  /** The token to send now; renews it first if that is due. Rejects with what the rotation or `onRotated` failed with. */
  read(rotate: Rotate): string | Promise<string> {
    const isDue = this.#unstored !== undefined || Date.now() >= this.#renewAt;
    if (this.#renewal === undefined && !isDue) return this.#token;
    this.#renewal ??= this.#renew(rotate).finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  subscribe(dependent: TokenListener): void {
    this.#dependents.add(dependent);
  }

  async settled(): Promise<void> {
    await this.#renewal?.catch(() => {});
  }

  async #renew(rotate: Rotate): Promise<string> {
    if (this.#unstored === undefined) {
      try {
        this.#take(await rotate(this.#id, this.#token));
      } catch (error) {
        const plaintext = error instanceof ResponseValidationError ? plaintextIn(error.rawBody) : undefined;
        if (plaintext !== undefined) this.#changeTo(plaintext);
        else if (Date.now() >= this.#expiresAt) throw error;
        this.#renewAt = Date.now() + TRY_AGAIN_AFTER_MS;
        ignoreErrors(() => this.#onRotationFailed?.(error));
        return this.#token;
      }
    }
    if (this.#unstored !== undefined) await this.#onRotated(this.#unstored);
    this.#unstored = undefined;
    return this.#token;
  }

  // From here on the old token is dead: whatever happens next, the replacement is the token.
  #take(replacement: CreatedToken): void {
    this.#id = replacement.id;
    this.#expiresAt = timeOf(replacement.expires_at);
    const halfLife = Date.now() + (this.#expiresAt - Date.now()) / 2;
    this.#renewAt = Math.max(this.#expiresAt - this.#renewBeforeMs, halfLife);
    this.#unstored = replacement;
    this.#changeTo(replacement.plaintext);
  }

  #changeTo(token: string): void {
    this.#token = token;
    this.#dependents.refresh();
  }
}

function timeOf(moment: string | Date): number {
  return new Date(moment).getTime();
}

function checked(options: RotatingTokenOptions): RotatingTokenOptions {
  const given: unknown = options;
  if (typeof given !== "object" || given === null) throw new ConfigError("rotatingToken: options must be an object");
  const { id, token, expiresAt, renewBeforeMs, onRotated, onRotationFailed } = options;
  const flaw = flawOfToken(token);
  if (flaw !== undefined) throw new ConfigError(`rotatingToken: token ${flaw}`);
  if (typeof id !== "string" || id === "") throw new ConfigError("rotatingToken: id must be a non-empty string");
  if (!Number.isFinite(timeOf(expiresAt)))
    throw new ConfigError("rotatingToken: expiresAt must be a timestamp or a Date");
  if (renewBeforeMs !== undefined && !(renewBeforeMs >= 0 && renewBeforeMs < Number.POSITIVE_INFINITY)) {
    throw new ConfigError("rotatingToken: renewBeforeMs must be a number of milliseconds from 0 up");
  }
  if (typeof onRotated !== "function")
    throw new ConfigError("rotatingToken: onRotated must be a function that stores it");
  if (onRotationFailed !== undefined && typeof onRotationFailed !== "function") {
    throw new ConfigError("rotatingToken: onRotationFailed must be a function");
  }
  return options;
}
