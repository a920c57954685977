import type { RateLimitedCall, RateLimiter, RateLimitSnapshot } from "./rate-limiter.ts";
import { Ticket, TokenGate } from "./token-gate.ts";

/**
 * Creates the rate limiter of one process. Each token has a gate of its own at each service: calls pass it in order of arrival, at most
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

/** A token at a service: no token has a space. */
type GateName = `${string} ${string}`;

export class MemoryRateLimiter<Gate extends TokenGate> implements RateLimiter {
  readonly #createGate: (token: string, service: string) => Gate;
  readonly #gates = new Map<GateName, Gate>();
  #mostGates = FEW_GATES;
  #calls = 0;

  constructor(createGate: (token: string, service: string) => Gate) {
    this.#createGate = createGate;
  }

  enter(call: RateLimitedCall): Ticket {
    this.#calls += 1;
    return new Ticket((token) => this.gateOf(token, call.service), call, this.#calls);
  }

  snapshot(token: string, service: string): RateLimitSnapshot | undefined {
    return this.#gates.get(`${service} ${token}`)?.snapshot;
  }

  /** The gate of a token at a service. Tokens come and go: whenever there are twice as many, idle gates are forgotten. */
  gateOf(token: string, service: string): Gate {
    const name: GateName = `${service} ${token}`;
    const known = this.#gates.get(name);
    if (known !== undefined) return known;
    if (this.#gates.size >= this.#mostGates) {
      for (const [other, gate] of this.#gates) if (gate.isIdle) this.#gates.delete(other);
      this.#mostGates = Math.max(FEW_GATES, 2 * this.#gates.size);
    }
    const gate = this.#createGate(token, service);
    this.#gates.set(name, gate);
    return gate;
  }
}
