import { ignoreErrors } from "../checks/ignore-errors.ts";
import { describeValue, hasMethods, isObject, isPromise } from "../checks/values.ts";
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
 * no response that has arrived. If it always says that a 429 is waited for, the calls' `rateLimitWaits` end that.
 */
export function guardRateLimiter(limiter: RateLimiter): RateLimiter {
  return {
    enter: (call) => new GuardedPermit(permitOf(limiter, call), call),
    snapshot: (token) => checkSnapshot(ignoreErrors(() => limiter.snapshot(token))),
  };
}

function permitOf(limiter: RateLimiter, call: RateLimitedCall): Permit {
  try {
    const permit = limiter.enter(call);
    if (hasMethods(permit, "acquire", "report", "release")) return permit;
    // The rejection of a promise, which is no permit, has no other handler.
    ignoreErrors(() => permit);
    throw new TypeError(`enter returned ${describeValue(permit)}, not a permit`);
  } catch (cause) {
    return fail(cause);
  }
}

class GuardedPermit implements Permit {
  readonly #permit: Permit;
  readonly #maxPauses: number;
  /** Pauses that its own requests have begun, without another response in between. */
  #pausesInARow = 0;

  constructor(permit: Permit, { maxPauses }: RateLimitedCall) {
    this.#permit = permit;
    this.#maxPauses = maxPauses;
  }

  acquire(token: string): Admission | Promise<Admission> {
    const leave = (cause: unknown): never => {
      // It may have a slot all the same.
      this.release();
      return fail(cause);
    };
    try {
      const reply = this.#permit.acquire(token);
      return isPromise(reply) ? Promise.resolve(reply).then(checkAdmission).catch(leave) : checkAdmission(reply);
    } catch (cause) {
      return leave(cause);
    }
  }

  report(head: RateLimitHead): ReportedPause | undefined {
    const pause = ignoreErrors(() => this.#permit.report(head));
    this.#pausesInARow = head.status === 429 ? this.#pausesInARow + 1 : 0;
    if (!isObject(pause) || typeof pause.pauseMs !== "number") return undefined;
    return { pauseMs: pause.pauseMs, waits: pause.waits && this.#pausesInARow <= this.#maxPauses };
  }

  release(): void {
    ignoreErrors(() => this.#permit.release());
  }
}

function checkAdmission(admission: Admission): Admission {
  if (isObject(admission) && ["admitted", "stopped", "refused"].includes(admission.kind)) return admission;
  throw new TypeError(`acquire gave ${describeValue(admission)}, not an admission`);
}

function checkSnapshot(snapshot: RateLimitSnapshot | undefined): RateLimitSnapshot | undefined {
  if (!isObject(snapshot) || isPromise(snapshot)) return undefined;
  const { pausedUntil, ...others } = snapshot;
  return pausedUntil instanceof Date ? { ...others, pausedUntil } : others;
}

function fail(cause: unknown): never {
  throw new RateLimiterFailure("a rate limiter failed", { cause });
}
