import { AutomationError } from "../errors/automation-error.ts";
import { now } from "../time/clock.ts";
import { Deadline, STOPPED } from "../time/deadline.ts";
import { knownTokens } from "./known-tokens.ts";
import type { RotatingTokenOptions } from "./rotating-token-options.ts";
import {
  isRotationDue,
  type Moment,
  pauseAfter,
  type RotationSchedule,
  scheduleInitial,
  scheduleReplacement,
} from "./rotation-schedule.ts";
import { LONGEST_WORK_MS, SharedWork } from "./shared-work.ts";
import { recordIn, type StoredToken, usableFields } from "./token-format.ts";
import { LatestToken, type Rotate, type TokenRequest, TokenUnavailable } from "./token-source.ts";

const STORE_TIMEOUT_MS = 20_000;

const NOT_STORED =
  "onRotated failed to store the replacement of the rotated token; latest() returns it, and the next call passes it to onRotated again";
const NOT_USABLE = "the token is no longer valid and could not be rotated";

export type RunInContext = <Result>(work: () => Result) => Result;

/** The part of a `rotatingToken()` that is its own: its calls rotate and store by it. */
export interface Terms extends Pick<RotatingTokenOptions, "onRotated" | "onRotationFailed"> {
  readonly renewBeforeMs: number;
  readonly inOwnContext: RunInContext;
}

interface CallTerms extends Terms {
  readonly rotate: Rotate;
}

export function livingToken(service: string, stored: StoredToken): LivingToken {
  return knownTokens<LivingToken>().get(service, stored.plaintext) ?? new LivingToken(service, stored);
}

/**
 * The state that all clients with a rotating token share, in all copies of a module and of the package. Its `current` is what
 * calls are sent with: a replacement is not until it has been stored.
 */
export class LivingToken extends LatestToken {
  readonly service: string;
  #record: StoredToken;
  #schedule: (renewBeforeMs: number) => RotationSchedule;
  #work: SharedWork | undefined;
  #unstored: StoredToken | undefined;
  #failures = 0;
  #retryAt = 0;
  /** Set if the token is known to be invalid: the failure of the rotation that says so. */
  #invalid: TokenUnavailable | undefined;

  constructor(service: string, stored: StoredToken) {
    super(stored.plaintext);
    const madeAt = currentMoment();
    this.service = service;
    this.#record = stored;
    this.#schedule = (renewBeforeMs) => scheduleInitial(expiryOf(stored), renewBeforeMs, madeAt);
    knownTokens().set(service, stored.plaintext, this);
  }

  get latest(): StoredToken {
    return this.#record;
  }

  async settled(): Promise<void> {
    for (let work = this.#underWay; work !== undefined; work = this.#underWay) {
      // Its limit is shorter when it begins to store.
      const deadline = Deadline.of(Math.min(work.leftMs, STORE_TIMEOUT_MS));
      await deadline.race(work.wait()).catch(() => {});
      deadline.release();
    }
  }

  async tokenFor({ rejected, isRotation, isPaused, inTime }: TokenRequest, terms: CallTerms): Promise<string> {
    // The call that begins a rotation settles after it, whatever its own limits say.
    if (rejected === undefined) await this.#beginIfDue(terms, isPaused(this.current));
    const pending = isRotation ? undefined : this.#pendingFor(rejected, terms);
    if (pending !== undefined) await inTime(() => pending);
    return this.current;
  }

  get #underWay(): SharedWork | undefined {
    return this.#work?.isCurrent ? this.#work : undefined;
  }

  #beginIfDue(terms: CallTerms, isPaused: boolean): Promise<void> | undefined {
    if (this.#underWay !== undefined) return undefined;
    if (this.#unstored !== undefined) return this.#beginToStore(terms);
    const at = currentMoment();
    if (!isPaused && at.monotonic >= this.#retryAt && isRotationDue(this.#schedule(terms.renewBeforeMs), at)) {
      return this.#begin(() => terms.inOwnContext(() => this.#rotate(terms)), LONGEST_WORK_MS);
    }
    return this.#invalid && Promise.reject(this.#invalid);
  }

  #pendingFor(rejected: string | undefined, terms: Terms): Promise<void> | undefined {
    const isReplaced = this.#unstored !== undefined;
    if (rejected === undefined ? !isReplaced : rejected !== this.current) return undefined;
    const work = this.#underWay;
    // If the platform has dropped it, the replacement is still to be stored.
    if (work !== undefined) return work.waitToLimit().then(() => this.#pendingFor(rejected, terms));
    return isReplaced ? this.#beginToStore(terms) : undefined;
  }

  #beginToStore(terms: Terms): Promise<void> {
    return this.#begin(() => terms.inOwnContext(() => this.#store(terms)), STORE_TIMEOUT_MS);
  }

  #begin(run: () => Promise<void>, limitMs: number): Promise<void> {
    const result = run().finally(() => {
      if (this.#work === work) this.#work = undefined;
    });
    const work = new SharedWork(result, limitMs);
    this.#work = work;
    // The call that began it may have been dropped by the platform.
    result.catch(() => {});
    return result;
  }

  async #rotate(terms: CallTerms): Promise<void> {
    try {
      this.#replace(usableFields(await terms.rotate(this.#record)));
    } catch (error) {
      const usable = usableFields(recordIn(error));
      if (usable.plaintext === undefined) this.#fail(error);
      else this.#replace(usable);
      terms.onRotationFailed?.(error);
    }
    if (this.#unstored !== undefined) {
      this.#work?.keep(STORE_TIMEOUT_MS);
      await this.#store(terms);
    }
    if (this.#invalid !== undefined) throw this.#invalid;
  }

  /** The old token is revoked by now: whatever happens next, the replacement is the token. */
  #replace(fields: Partial<StoredToken>): void {
    const { id, plaintext, expires_at } = this.#record;
    const replacement = { id, plaintext, expires_at, ...fields };
    const expiry = { expiredAt: expiryOf(this.#record), expiresAt: expiryOf(replacement) };
    const replacedAt = currentMoment();
    this.#schedule = (renewBeforeMs) => scheduleReplacement(expiry, renewBeforeMs, replacedAt);
    this.#record = replacement;
    this.#unstored = replacement;
    this.#failures = 0;
    this.#invalid = undefined;
    knownTokens().set(this.service, replacement.plaintext, this);
  }

  #fail(error: unknown): void {
    this.#failures += 1;
    this.#retryAt = now() + pauseAfter(this.#failures);
    // Neither the local clock nor a refused rotation says that a token is dead.
    const isRevoked = error instanceof AutomationError && error.outcome === "accepted";
    const place = error instanceof AutomationError && error.rawBody ? ": cause.rawBody may hold its replacement" : "";
    if (isRevoked) this.#invalid ??= new TokenUnavailable(`${NOT_USABLE}${place}`, { cause: error });
  }

  async #store({ onRotated }: Terms): Promise<void> {
    const replacement = this.#record;
    const stored = (async () => onRotated({ ...replacement }))().then(() => {
      if (this.#unstored !== replacement) return;
      this.#unstored = undefined;
      this.set(replacement.plaintext);
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
