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
import { TokenGate } from "./token-gate.ts";
import type { Waiter } from "./waiters.ts";

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
  return new MemoryRateLimiter(() => ({ gate: new TokenGate(), isUsed: false }));
}

/** Gates that are kept without a look at which of them are idle. */
const FEW_GATES = 32;

/** A gate, and whether something else than its calls depends on it. */
export interface KeptGate {
  readonly gate: TokenGate;
  readonly isUsed: boolean;
}

/** A token at a service: no token has a space. */
type GateName = `${string} ${string}`;

/** The class behind `memoryRateLimiter()`: the gates of all tokens at all services. */
export class MemoryRateLimiter<Kept extends KeptGate> implements RateLimiter {
  readonly #createGate: (token: string, service: string) => Kept;
  readonly #gates = new Map<GateName, Kept>();
  #mostGates = FEW_GATES;
  #calls = 0;

  constructor(createGate: (token: string, service: string) => Kept) {
    this.#createGate = createGate;
  }

  enter(call: RateLimitedCall): MemoryPermit {
    this.#calls += 1;
    return new MemoryPermit((token) => this.gateOf(token, call.service).gate, call, this.#calls);
  }

  snapshot(token: string, service?: string): RateLimitSnapshot | undefined {
    if (service !== undefined) return this.#gates.get(`${service} ${token}`)?.gate.snapshot;
    const [only, ...others] = this.gatesOf(token).flatMap(({ gate }) => gate.snapshot ?? []);
    return others.length === 0 ? only : undefined;
  }

  /** The gates of a token, at each service. */
  gatesOf(token: string): readonly Kept[] {
    return [...this.#gates].flatMap(([name, kept]) => (name.endsWith(` ${token}`) ? kept : []));
  }

  /** The gate of a token at a service. Tokens come and go: whenever there are twice as many, idle gates are forgotten. */
  gateOf(token: string, service: string): Kept {
    const name: GateName = `${service} ${token}`;
    const known = this.#gates.get(name);
    if (known !== undefined) return known;
    if (this.#gates.size >= this.#mostGates) {
      for (const [other, { gate, isUsed }] of this.#gates) if (gate.isIdle && !isUsed) this.#gates.delete(other);
      this.#mostGates = Math.max(FEW_GATES, 2 * this.#gates.size);
    }
    const gate = this.#createGate(token, service);
    this.#gates.set(name, gate);
    return gate;
  }
}

/** One wait of a call in the queue of a gate. */
interface Wait {
  /** The gate's decision. */
  admission: Admission | undefined;
  /** The end of the present sleep. */
  until: number;
  /** The moment for which the gate has asked to be looked at, which the present sleep may end before. */
  watchedAt: number;
  /** Ends the present sleep now. */
  wake(): void;
}

/**
 * A call at the gate of its token. The order of one wait:
 *
 * 1. `acquire` asks the gate, which admits the call, refuses it, or puts it into its queue.
 * 2. In the queue the call sleeps by a timer of its own.
 * 3. Whatever makes room (a response, a call that leaves, the end of a pause) lets the gate admit the first ones.
 * 4. The gate gives an admitted call a slot, and settles its wait.
 * 5. The call takes its slot within a moment. If it comes too late, it waits again at its position.
 * 6. Time makes room as well: a pause ends, or a slot of a call that was dropped.
 * 7. Some of those who wait are awake then, and each other one a little later: the one that wakes lets the gate look.
 * 8. If that moment comes nearer meanwhile, the gate wakes some, and they sleep anew until then.
 * 9. The call's signal ends its wait at once.
 * 10. `release` gives the slot back, or leaves the queue.
 */
export class MemoryPermit implements Permit, Waiter {
  readonly call: RateLimitedCall;
  readonly position: number;
  pauses = 0;
  counted: symbol | undefined;
  readonly #gateOf: (token: string) => TokenGate;
  #gate: TokenGate | undefined;
  #wait: Wait | undefined;

  constructor(gateOf: (token: string) => TokenGate, call: RateLimitedCall, position: number) {
    this.#gateOf = gateOf;
    this.call = call;
    this.position = position;
  }

  acquire(token: string): Admission | Promise<Admission> {
    this.release();
    const gate = this.#gateOf(token);
    this.#gate = gate;
    // `enter` may settle or arm this very call: it returns the decision, and the wait that would be told does not exist yet.
    return gate.enter(this) ?? this.#waitAt(gate);
  }

  report(head: RateLimitHead): ReportedPause | undefined {
    return this.#gate?.report(this, head);
  }

  release(): void {
    this.#gate?.leave(this);
    this.#gate = undefined;
    this.#wait = undefined;
  }

  /** The gate has decided. */
  settle(admission: Admission): void {
    if (this.#wait === undefined) return;
    this.#wait.admission = admission;
    this.#wait.wake();
  }

  /** The wait arms its timer anew if it would sleep for longer. */
  wakeAt(at: number): void {
    if (this.#wait === undefined) return;
    this.#wait.watchedAt = at;
    if (at >= this.#wait.until) return;
    this.#wait.until = at;
    this.#wait.wake();
  }

  async #waitAt(gate: TokenGate): Promise<Admission> {
    const { signal } = this.call;
    const wait: Wait = { admission: undefined, until: gate.sleepUntil(), watchedAt: 0, wake() {} };
    this.#wait = wait;
    const stop = (): void => {
      if (wait.admission === undefined) gate.leave(this);
    };
    // The signal is the call's own, with no other listener to share.
    signal.addEventListener("abort", stop);
    try {
      for (;;) {
        // An event does not reach a listener that is added after it.
        if (signal.aborted) stop();
        while (wait.admission === undefined) await sleep(gate, wait);
        const { admission } = wait;
        // Released, or acquired anew, since the gate decided: a slot that it has now is not this wait's to take.
        if (admission.kind !== "admitted" || this.#wait !== wait) return admission;
        if (gate.take(this)) return admission;
        // The call came too late for its slot, and waits again at its position.
        wait.admission = gate.enter(this);
        wait.until = gate.sleepUntil();
      }
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }
}

/** Sleeps until the gate has decided, until it wakes the wait, or until there may be room. */
async function sleep(gate: TokenGate, wait: Wait): Promise<void> {
  const { until } = wait;
  let cancel = (): void => {};
  await new Promise<void>((resolve) => {
    wait.wake = resolve;
    cancel = after(until - now(), () => {
      // The waiters that the gate admits go on in order, this one among them.
      wait.until = Number.POSITIVE_INFINITY;
      gate.look(until);
      const watchedAt = wait.watchedAt > until ? wait.watchedAt : Number.POSITIVE_INFINITY;
      wait.until = Math.min(wait.until, watchedAt, gate.sleepUntil());
      resolve();
    });
  });
  cancel();
}
