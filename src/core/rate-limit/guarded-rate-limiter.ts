import { isDate } from "../checks/foreign.ts";
import { ignoreErrors } from "../checks/ignore-errors.ts";
import { describeValue, hasMethods, ignoreRejection, isObject, isPromise } from "../checks/values.ts";
import { now } from "../time/clock.ts";
import { onAbort } from "../time/deadline.ts";
import {
  type Admission,
  type Permit,
  type RateLimitedCall,
  type RateLimiter,
  RateLimiterFailure,
  type RateLimitHead,
  type RateLimitSnapshot,
  type ReportedPause,
} from "./rate-limiter.ts";

/**
 * The door for a rate limiter of the caller's own. Its failure before a request ends the call; a failure afterwards loses
 * no response that has arrived. If it says that a 429 is waited for and then does not wait, `rateLimitWaits` ends that.
 */
export function guardRateLimiter(limiter: RateLimiter): RateLimiter {
  return {
    enter: (call) => new GuardedPermit(permitOf(limiter, call), call),
    snapshot: (...of) => checkSnapshot(ignoreErrors(() => limiter.snapshot(...of))),
  };
}

function permitOf(limiter: RateLimiter, call: RateLimitedCall): Permit {
  try {
    const permit = limiter.enter(call);
    if (hasMethods(permit, "acquire", "report", "release")) return permit;
    ignoreRejection(permit);
    throw new TypeError(`enter returned ${describeValue(permit)}, not a permit`);
  } catch (cause) {
    return fail(cause);
  }
}

class GuardedPermit implements Permit {
  readonly #permit: Permit;
  readonly #call: RateLimitedCall;
  /** Changes with each wait: the end of one that was left says nothing about the present one. */
  #turn = 0;
  /** The latest pause that was reported: until when it lasts. */
  #pausedUntil = 0;
  /** Pauses in a row that were not waited for. */
  #skipped = 0;

  constructor(permit: Permit, call: RateLimitedCall) {
    this.#permit = permit;
    this.#call = call;
  }

  acquire(token: string): Admission | Promise<Admission> {
    this.#turn += 1;
    const turn = this.#turn;
    const leave = (cause: unknown): never => {
      // It may have a slot all the same.
      if (turn === this.#turn) this.release();
      return fail(cause);
    };
    const check = (admission: Admission): Admission => this.#check(admission, turn === this.#turn);
    try {
      const reply = this.#permit.acquire(token);
      return isPromise(reply) ? this.#untilStopped(Promise.resolve(reply).then(check).catch(leave)) : check(reply);
    } catch (cause) {
      return leave(cause);
    }
  }

  report(head: RateLimitHead): ReportedPause | undefined {
    const pause = ignoreErrors(() => this.#permit.report(head));
    if (head.status !== 429) this.#skipped = 0;
    if (!isObject(pause) || typeof pause.pauseMs !== "number") return undefined;
    const { pauseMs } = pause;
    this.#skipped += 1;
    // A pause of no time has been waited for a moment later.
    this.#pausedUntil = now() + Math.max(pauseMs, 1);
    return { pauseMs, waits: pause.waits && this.#skipped <= this.#call.maxPauses };
  }

  release(): void {
    this.#turn += 1;
    ignoreErrors(() => this.#permit.release());
  }

  /** Ends the wait with the call: a limiter may not heed its signal. */
  async #untilStopped(pending: Promise<Admission>): Promise<Admission> {
    let unsubscribe: (() => void) | undefined;
    const stopped = new Promise<Admission>((resolve) => {
      unsubscribe = onAbort(this.#call.signal, () => resolve({ kind: "stopped" }));
    });
    return await Promise.race([pending, stopped]).finally(unsubscribe);
  }

  #check(admission: Admission, isPresent: boolean): Admission {
    if (!isObject(admission) || !["admitted", "stopped", "refused"].includes(admission.kind)) {
      throw new TypeError(`acquire gave ${describeValue(admission)}, not an admission`);
    }
    if (admission.kind === "stopped" && isPresent && !this.#call.signal.aborted) {
      throw new TypeError("acquire said that the call was stopped, and it was not");
    }
    // It has waited the pause out, so it may wait for another one.
    if (admission.kind === "admitted" && now() >= this.#pausedUntil) this.#skipped = 0;
    return admission;
  }
}

function checkSnapshot(snapshot: RateLimitSnapshot | undefined): RateLimitSnapshot | undefined {
  if (!isObject(snapshot) || isPromise(snapshot)) return undefined;
  const { pausedUntil, ...others } = snapshot;
  return isDate(pausedUntil) ? { ...others, pausedUntil } : others;
}

function fail(cause: unknown): never {
  throw new RateLimiterFailure("a rate limiter failed", { cause });
}
