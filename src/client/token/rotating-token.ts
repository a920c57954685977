import { ignoreErrors } from "../checks/ignore-errors.ts";
import type { Present } from "../checks/validators.ts";
import { AutomationError } from "../errors/automation-error.ts";
import { calledBy } from "../errors/caller-stack.ts";
import { ConfigError } from "../errors/classes.ts";
import type { CreatedToken } from "../models.ts";
import type { Permit } from "../rate-limit/rate-limiter.ts";
import { now } from "../time/clock.ts";
import { Deadline, STOPPED } from "../time/deadline.ts";
import { checkRotatingToken, type RotatingTokenOptions } from "./rotating-token-options.ts";
import { type StoredToken, usableFields } from "./rotating-token-record.ts";
import {
  isRotationDue,
  type Moment,
  type RotationSchedule,
  scheduleInitial,
  scheduleReplacement,
  scheduleRetry,
} from "./rotation-schedule.ts";
import { recordIn } from "./token-format.ts";
import {
  LatestToken,
  type Rotate,
  type TokenSource,
  type TokenSourceFactory,
  TokenUnavailable,
} from "./token-source.ts";

/** A token that rotates itself. Pass it as `token` to one client, or to several with one origin. */
export interface RotatingToken extends TokenSourceFactory {
  /**
   * The latest token, secret included, in the shape that `rotatingToken` takes: the whole record, as it was passed or as
   * the service sent it. Store this if `onRotated` has failed.
   */
  latest(): StoredToken & Partial<CreatedToken>;
}

/**
 * Creates a token that rotates itself: the first call within `renewBeforeMs` of its expiry sends a rotation, other calls
 * wait for it, and all of them are sent with the replacement. No timer runs between calls.
 *
 * There are at least ten minutes between two rotations, and half a day if `expires_at` is of no use: because it has
 * passed by the local clock, which must then be wrong, or because the service has not extended it.
 *
 * @throws `ConfigError` if an option is invalid.
 *
 * @example
 * const token = rotatingToken({
 *   token: { id: "tok_1", plaintext: "pat_key_secret", expires_at: "2030-01-01T00:00:00Z" }, // as stored
 *   onRotated: (replacement) => store(replacement.id, JSON.stringify(replacement)),
 * });
 * const client = new Client({ baseUrl: "https://automation.example.com/api/v1", token });
 */
export function rotatingToken(options: RotatingTokenOptions): RotatingToken {
  return calledBy(rotatingToken, () => new SelfRotatingToken(checkRotatingToken(options)));
}

const DAY_MS = 24 * 60 * 60 * 1000;
const STORE_TIMEOUT_MS = 20_000;

const NOT_STORED =
  "onRotated failed to store the replacement of the rotated token; latest() returns it, and the next call passes it to onRotated again";
const NOT_USABLE = "the token is no longer valid and could not be rotated";

/** The state that all clients with this token share. */
class SelfRotatingToken implements RotatingToken {
  readonly #renewBeforeMs: number;
  readonly #onRotated: RotatingTokenOptions["onRotated"];
  readonly #onRotationFailed: RotatingTokenOptions["onRotationFailed"];
  readonly #latest: LatestToken;
  /** The origin of the first client, which the token is for. */
  #origin: string | undefined;
  #token: StoredToken;
  #schedule: RotationSchedule;
  /** The rotation or the storing that calls wait for. */
  #pending: Promise<string> | undefined;
  /** The replacement, until it has been stored. */
  #unstored: StoredToken | undefined;
  /** Rotations that have failed in a row. */
  #failures = 0;
  /** Set if the token is known to be invalid: what the rotation failed with that says so. */
  #invalid: TokenUnavailable | undefined;

  constructor({ token, renewBeforeMs = DAY_MS, onRotated, onRotationFailed }: Present<RotatingTokenOptions>) {
    this.#token = token;
    this.#latest = new LatestToken(token.plaintext);
    this.#renewBeforeMs = renewBeforeMs;
    this.#onRotated = onRotated;
    this.#onRotationFailed = onRotationFailed;
    this.#schedule = scheduleInitial(expiryOf(token), renewBeforeMs, currentMoment());
  }

  latest(): StoredToken & Partial<CreatedToken> {
    return { ...this.#token };
  }

  createSource(rotate: Rotate, origin: string): TokenSource {
    this.#origin ??= origin;
    if (origin !== this.#origin) {
      const message = `token: this rotatingToken() belongs to ${this.#origin}, and would travel to ${origin}: create one for each`;
      throw new ConfigError(message, { outcome: "not_sent" });
    }
    const latest = this.#latest;
    return {
      get current(): string {
        return latest.current;
      },
      rotation: (permit) => this.#renewIfDue(rotate, permit),
      renew: async (rejected) => {
        await this.#pending?.catch(() => {});
        return latest.current !== rejected;
      },
      subscribe: (listener) => latest.subscribe(listener),
    };
  }

  #renewIfDue(rotate: Rotate, permit: Permit): Promise<string> | undefined {
    const isDue = this.#unstored === undefined && isRotationDue(this.#schedule, currentMoment());
    if (isDue || this.#unstored !== undefined || this.#invalid !== undefined) {
      this.#pending ??= this.#renew(isDue ? rotate(this.#token, permit) : undefined).finally(() => {
        this.#pending = undefined;
      });
    }
    return this.#pending;
  }

  async #renew(rotation: Promise<CreatedToken> | undefined): Promise<string> {
    if (rotation !== undefined) await this.#rotate(rotation);
    if (this.#unstored !== undefined) await this.#store(this.#unstored);
    if (this.#invalid !== undefined) throw this.#invalid;
    return this.#token.plaintext;
  }

  async #rotate(rotation: Promise<CreatedToken>): Promise<void> {
    try {
      this.#replace(usableFields(await rotation));
    } catch (error) {
      const usable = usableFields(recordIn(error));
      if (usable.plaintext === undefined) this.#fail(error);
      else this.#replace(usable);
      ignoreErrors(() => this.#onRotationFailed?.(error));
    }
  }

  /** The old token is revoked by now: whatever happens next, the replacement is the token. */
  #replace(fields: Partial<StoredToken>): void {
    const { id, plaintext, expires_at } = this.#token;
    const replacement = { id, plaintext, expires_at, ...fields };
    const expiry = { expiredAt: expiryOf(this.#token), expiresAt: expiryOf(replacement) };
    this.#schedule = scheduleReplacement(expiry, this.#renewBeforeMs, currentMoment());
    this.#token = replacement;
    this.#unstored = replacement;
    this.#failures = 0;
    this.#invalid = undefined;
    this.#latest.set(replacement.plaintext);
  }

  #fail(error: unknown): void {
    const at = currentMoment();
    this.#failures += 1;
    this.#schedule = scheduleRetry(this.#schedule, this.#failures, at);
    const isRevoked = error instanceof AutomationError && error.outcome === "accepted";
    const isExpired = error instanceof AutomationError && error.kind === "auth" && at.wall >= expiryOf(this.#token);
    if (isRevoked || isExpired) this.#invalid ??= new TokenUnavailable(NOT_USABLE, { cause: error });
  }

  async #store(replacement: StoredToken): Promise<void> {
    const stored = (async () => this.#onRotated({ ...replacement }))().then(() => {
      if (this.#unstored === replacement) this.#unstored = undefined;
    });
    const deadline = Deadline.of(STORE_TIMEOUT_MS);
    try {
      await deadline.race(stored);
    } catch (error) {
      const late = new Error(`onRotated did not settle within ${STORE_TIMEOUT_MS / 1000} s`);
      throw new TokenUnavailable(NOT_STORED, { cause: error === STOPPED ? late : error });
    } finally {
      deadline.release();
    }
  }
}

function currentMoment(): Moment {
  return { wall: Date.now(), monotonic: now() };
}

function expiryOf({ expires_at }: StoredToken): number {
  return Date.parse(expires_at);
}
