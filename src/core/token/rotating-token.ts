import type { Present } from "../checks/validators.ts";
import { AutomationError } from "../errors/automation-error.ts";
import { withCallerStack } from "../errors/caller-stack.ts";
import { ConfigError } from "../errors/classes.ts";
import { now } from "../time/clock.ts";
import { Deadline, STOPPED } from "../time/deadline.ts";
import { keepContext } from "./own-context.ts";
import { checkRotatingToken, type RotatingTokenOptions } from "./rotating-token-options.ts";
import { usableFields } from "./rotating-token-record.ts";
import {
  isRotationDue,
  type Moment,
  type RotationSchedule,
  scheduleInitial,
  scheduleReplacement,
  scheduleRetry,
} from "./rotation-schedule.ts";
import { LONGEST_WORK_MS, SharedWork } from "./shared-work.ts";
import type { RotatedToken, StoredToken } from "./token-format.ts";
import { recordIn } from "./token-format.ts";
import {
  LatestToken,
  type Rotate,
  type TokenRequest,
  type TokenSource,
  type TokenSourceFactory,
  TokenUnavailable,
} from "./token-source.ts";

/** A token that rotates itself. Pass it as `token` to one client, or to several of one service. */
export interface RotatingToken extends TokenSourceFactory {
  /**
   * The latest token, secret included, in the shape that `rotatingToken` takes: the whole record, as it was passed or as
   * the service sent it. Store this if `onRotated` has failed.
   */
  latest(): RotatedToken;
  /**
   * Resolves when no rotation is under way and no replacement is being stored. Never rejects. Await it before a process
   * ends or a function is frozen; in a Worker: `waitUntil(token.settled())`.
   */
  settled(): Promise<void>;
}

/**
 * Creates a token that rotates itself: a call that begins within `renewBeforeMs` of its expiry sends a rotation first, and
 * settles after the replacement is stored, whatever its own limits say. Other calls do not wait: they are sent with the old
 * token, and one that is answered 401 then waits for the replacement. No timer runs between calls.
 *
 * There are at least ten minutes between two rotations, and half a day if `expires_at` is of no use: because it has
 * passed by the local clock, which must then be wrong, or because the service has not extended it. A rotation that fails
 * is tried again a minute later at the earliest; one that gets no response ends with the client's `timeoutMs` (30 s where
 * that is `false`).
 *
 * It rotates and stores in the `AsyncLocalStorage` context of this call, where the platform has one. Calls go on with the old
 * token until the service answers 401 to one of them, whatever the local clock says.
 *
 * @throws `ConfigError` if an option is invalid, or if `plaintext` and `key_id` of the record do not belong together.
 *
 * @example
 * const token = rotatingToken({
 *   token: { id: "tok_1", plaintext: "pat_key_secret", expires_at: "2030-01-01T00:00:00Z" }, // as stored
 *   onRotated: (replacement) => store(replacement.id, JSON.stringify(replacement)),
 * });
 * const client = new Client({ baseUrl: "https://automation.example.com/api/v1", token });
 */
export function rotatingToken(options: RotatingTokenOptions): RotatingToken {
  return withCallerStack(rotatingToken, () => new SelfRotatingToken(checkRotatingToken(options)));
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
  /** The token that calls are sent with. A replacement is not until it has been stored. */
  readonly #sent: LatestToken;
  /** The service of the first call: the token is for it alone. */
  #service: string | undefined;
  #token: StoredToken;
  #schedule: RotationSchedule;
  /** The rotation, or the storing, that is under way. */
  #work: SharedWork<void> | undefined;
  /** The replacement, until it has been stored. */
  #unstored: StoredToken | undefined;
  /** Rotations that have failed in a row. */
  #failures = 0;
  /** The context of the application that made the token. */
  readonly #inOwnContext = keepContext();
  /** Set if the token is known to be invalid: the failure of the rotation that says so. */
  #invalid: TokenUnavailable | undefined;

  constructor({ token, renewBeforeMs = DAY_MS, onRotated, onRotationFailed }: Present<RotatingTokenOptions>) {
    this.#token = token;
    this.#sent = new LatestToken(token.plaintext);
    this.#renewBeforeMs = renewBeforeMs;
    this.#onRotated = onRotated;
    this.#onRotationFailed = onRotationFailed;
    this.#schedule = scheduleInitial(expiryOf(token), renewBeforeMs, currentMoment());
  }

  latest(): RotatedToken {
    return { ...this.#token };
  }

  async settled(): Promise<void> {
    for (let work = this.#underWay; work !== undefined; work = this.#underWay) {
      // Its limit is shorter when it begins to store.
      const deadline = Deadline.of(Math.min(work.leftMs, STORE_TIMEOUT_MS));
      await deadline.race(work.wait()).catch(() => {});
      deadline.release();
    }
  }

  createSource(rotate: Rotate, service: string): TokenSource {
    const flaw = (): string | undefined => {
      if (this.#service === undefined || this.#service === service) return undefined;
      return `token: this rotatingToken() belongs to ${this.#service}, and would travel to ${service}: create one for each`;
    };
    const early = flaw();
    if (early !== undefined) throw new ConfigError(early, { outcome: "not_sent" });
    const sent = this.#sent;
    return {
      swaps: 0,
      get current(): string {
        return sent.current;
      },
      tokenFor: async (request) => {
        const late = flaw();
        if (late !== undefined) throw new TokenUnavailable(late);
        this.#service = service;
        return await this.#tokenFor(request, rotate);
      },
      isCurrent: (token) => sent.isCurrent(token),
      subscribe: (listener) => sent.subscribe(listener),
    };
  }

  async #tokenFor({ rejected, isRotation, isPaused, within }: TokenRequest, rotate: Rotate): Promise<string> {
    // The call that begins a rotation settles after it, whatever its own limits say.
    if (rejected === undefined) await this.#beginIfDue(rotate, isPaused(this.#sent.current));
    const pending = isRotation ? undefined : this.#pendingFor(rejected);
    if (pending !== undefined) await within(() => pending);
    return this.#sent.current;
  }

  get #underWay(): SharedWork<void> | undefined {
    return this.#work?.isCurrent ? this.#work : undefined;
  }

  #beginIfDue(rotate: Rotate, isPaused: boolean): Promise<void> | undefined {
    if (this.#underWay !== undefined) return undefined;
    if (this.#unstored !== undefined) return this.#begin(() => this.#store(), STORE_TIMEOUT_MS);
    if (!isPaused && isRotationDue(this.#schedule, currentMoment())) {
      return this.#begin(() => this.#rotate(rotate), LONGEST_WORK_MS);
    }
    return this.#invalid && Promise.reject(this.#invalid);
  }

  #pendingFor(rejected: string | undefined): Promise<void> | undefined {
    const isReplaced = this.#unstored !== undefined;
    if (rejected === undefined ? !isReplaced : rejected !== this.#sent.current) return undefined;
    const work = this.#underWay;
    // If the platform has dropped it, the replacement is still to be stored.
    if (work !== undefined) return work.waitToLimit().then(() => this.#pendingFor(rejected));
    return isReplaced ? this.#begin(() => this.#store(), STORE_TIMEOUT_MS) : undefined;
  }

  #begin(run: () => Promise<void>, limitMs: number): Promise<void> {
    const result = this.#inOwnContext(run).finally(() => {
      if (this.#work === work) this.#work = undefined;
    });
    const work = new SharedWork(result, limitMs);
    this.#work = work;
    // The call that began it may have been dropped by the platform.
    result.catch(() => {});
    return result;
  }

  async #rotate(rotate: Rotate): Promise<void> {
    try {
      this.#replace(usableFields(await rotate(this.#token)));
    } catch (error) {
      const usable = usableFields(recordIn(error));
      if (usable.plaintext === undefined) this.#fail(error);
      else this.#replace(usable);
      this.#onRotationFailed?.(error);
    }
    if (this.#unstored !== undefined) {
      this.#work?.keep(STORE_TIMEOUT_MS);
      await this.#store();
    }
    if (this.#invalid !== undefined) throw this.#invalid;
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
  }

  #fail(error: unknown): void {
    this.#failures += 1;
    this.#schedule = scheduleRetry(this.#schedule, this.#failures, currentMoment());
    // Neither the local clock nor a refused rotation says that a token is dead.
    const isRevoked = error instanceof AutomationError && error.outcome === "accepted";
    const place = error instanceof AutomationError && error.rawBody ? ": cause.rawBody may hold its replacement" : "";
    if (isRevoked) this.#invalid ??= new TokenUnavailable(`${NOT_USABLE}${place}`, { cause: error });
  }

  async #store(): Promise<void> {
    const replacement = this.#token;
    const stored = (async () => this.#onRotated({ ...replacement }))().then(() => {
      if (this.#unstored !== replacement) return;
      this.#unstored = undefined;
      this.#sent.set(replacement.plaintext);
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
