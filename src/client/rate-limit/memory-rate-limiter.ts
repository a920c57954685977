import { after, now } from "../time/clock.ts";
import type {
  Admission,
  Permit,
  RateLimitedCall,
  RateLimiter,
  RateLimitHead,
  RateLimitSnapshot,
  ReportedPause,
} from "./rate-limiter.ts";
import { TokenGate, type Waiter } from "./token-gate.ts";

/**
 * Creates the rate limiter of one process. Each token has a gate of its own: calls pass it in order of arrival, at most
 * `maxConcurrency` at once; a 429 closes it until its `Retry-After` has elapsed, then one request goes ahead. Each client
 * creates its own limiter; pass one to several clients that share a token. It holds no timer while no call waits.
 *
 * @example
 * const rateLimiter = memoryRateLimiter();
 * const reader = new Client({ rateLimiter });
 * const writer = new Client({ rateLimiter, timeoutMs: 5_000 });
 */
export function memoryRateLimiter(): RateLimiter {
  return new MemoryRateLimiter(() => new TokenGate());
}

/** Gates that are kept without a look at which of them are idle. */
const FEW_GATES = 32;

/** The class behind `memoryRateLimiter()`: the gates of all tokens. */
export class MemoryRateLimiter<Gate extends TokenGate> implements RateLimiter {
  readonly #createGate: (token: string) => Gate;
  readonly #gates = new Map<string, Gate>();
  #mostGates = FEW_GATES;
  #calls = 0;

  constructor(createGate: (token: string) => Gate) {
    this.#createGate = createGate;
  }

  enter(call: RateLimitedCall): MemoryPermit {
    this.#calls += 1;
    return new MemoryPermit(this, call, this.#calls);
  }

  snapshot(token: string): RateLimitSnapshot | undefined {
    return this.#gates.get(token)?.snapshot;
  }

  /** The gate of a token. Tokens come and go: whenever there are twice as many, idle gates are forgotten. */
  gateOf(token: string): Gate {
    const known = this.#gates.get(token);
    if (known !== undefined) return known;
    if (this.#gates.size >= this.#mostGates) {
      for (const [name, gate] of this.#gates) if (gate.isIdle) this.#gates.delete(name);
      this.#mostGates = Math.max(FEW_GATES, 2 * this.#gates.size);
    }
    const gate = this.#createGate(token);
    this.#gates.set(token, gate);
    return gate;
  }
}

/** A call at the gate of its token. */
export class MemoryPermit implements Permit, Waiter {
  readonly call: RateLimitedCall;
  readonly position: number;
  pauses = 0;
  counted: symbol | undefined;
  readonly #limiter: MemoryRateLimiter<TokenGate>;
  #gate: TokenGate | undefined;
  /** The end of its wait, once the gate has decided. */
  #admission: Admission | undefined;
  #look: (() => void) | undefined;

  constructor(limiter: MemoryRateLimiter<TokenGate>, call: RateLimitedCall, position: number) {
    this.#limiter = limiter;
    this.call = call;
    this.position = position;
  }

  acquire(token: string): Admission | Promise<Admission> {
    this.release();
    const gate = this.#limiter.gateOf(token);
    this.#gate = gate;
    return gate.enter(this) ?? this.#wait(gate);
  }

  report(head: RateLimitHead): ReportedPause | undefined {
    return this.#gate?.report(this, head);
  }

  release(): void {
    this.#gate?.release(this);
    this.#gate = undefined;
  }

  /** The gate has decided. */
  settle(admission: Admission): void {
    this.#admission = admission;
    this.#look?.();
  }

  /** The gate has changed: the wait arms its timer anew. */
  wake(): void {
    this.#look?.();
  }

  async #wait(gate: TokenGate): Promise<Admission> {
    const { signal } = this.call;
    this.#admission = undefined;
    const stop = (): void => gate.dismiss(this, { kind: "stopped" });
    // The signal is the call's own, with no other listener to share.
    signal.addEventListener("abort", stop);
    // An event does not reach a listener that is added after it.
    if (signal.aborted) stop();
    try {
      for (;;) {
        const admission = this.#admission ?? (await this.#next(gate));
        if (admission?.kind !== "admitted") {
          if (admission !== undefined) return admission;
        } else if (gate.take(this)) return admission;
        else {
          // It came too late for its slot, and waits again at its position.
          this.#admission = undefined;
          const again = gate.enter(this);
          if (again !== undefined) return again;
        }
      }
    } finally {
      this.#look = undefined;
      signal.removeEventListener("abort", stop);
    }
  }

  /** Waits until the gate has decided, has changed, or may have room by now: each wait has a timer of its own. */
  async #next(gate: TokenGate): Promise<Admission | undefined> {
    const at = gate.nextRoomAt();
    let cancel = (): void => {};
    const isTime = await new Promise<boolean>((resolve) => {
      this.#look = () => resolve(false);
      cancel = after(at - now(), () => resolve(true));
    });
    cancel();
    if (isTime) gate.look(at);
    return this.#admission;
  }
}
