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
  #places = 0;

  constructor(createGate: (token: string) => Gate) {
    this.#createGate = createGate;
  }

  enter(call: RateLimitedCall): MemoryPermit {
    this.#places += 1;
    return new MemoryPermit(this, call, this.#places);
  }

  refresh(): void {
    const moved = [...this.#gates].flatMap(([token, gate]) =>
      gate.waiting.filter(({ call }) => call.token() !== token).map((waiter) => ({ gate, waiter })),
    );
    moved.sort((one, other) => one.waiter.position - other.waiter.position);
    for (const { gate, waiter } of moved) gate.dismiss(waiter, { kind: "moved" });
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
  settle: Waiter["settle"];
  readonly #limiter: MemoryRateLimiter<TokenGate>;
  #gate: TokenGate | undefined;

  constructor(limiter: MemoryRateLimiter<TokenGate>, call: RateLimitedCall, position: number) {
    this.#limiter = limiter;
    this.call = call;
    this.position = position;
  }

  acquire(token: string): Admission | Promise<Admission> {
    const gate = this.#limiter.gateOf(token);
    if (gate !== this.#gate) this.release();
    this.#gate = gate;
    return gate.enter(this) ?? this.#wait(gate);
  }

  report(head: RateLimitHead): ReportedPause | undefined {
    return this.#gate?.report(this, head);
  }

  release(): void {
    this.#gate?.release(this);
  }

  #wait(gate: TokenGate): Promise<Admission> {
    const { signal } = this.call;
    const stop = (): void => gate.dismiss(this, { kind: "stopped" });
    return new Promise((resolve) => {
      this.settle = (admission) => {
        signal.removeEventListener("abort", stop);
        resolve(admission);
      };
      // The signal is the call's own, with no other listener to share.
      signal.addEventListener("abort", stop);
      // An event does not reach a listener that is added after it.
      if (signal.aborted) stop();
    });
  }
}
