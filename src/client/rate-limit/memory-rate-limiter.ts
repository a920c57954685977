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

const STOPPED: Admission = { kind: "stopped" };

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

/** One wait of a call in the queue of a gate. */
interface Wait {
  /** The gate's decision. */
  admission: Admission | undefined;
  /** The end of the present sleep. */
  until: number;
  /** Ends it now. */
  look(): void;
}

/** A call at the gate of its token. */
export class MemoryPermit implements Permit, Waiter {
  readonly call: RateLimitedCall;
  readonly position: number;
  pauses = 0;
  counted: symbol | undefined;
  readonly #limiter: MemoryRateLimiter<TokenGate>;
  #gate: TokenGate | undefined;
  #wait: Wait | undefined;

  constructor(limiter: MemoryRateLimiter<TokenGate>, call: RateLimitedCall, position: number) {
    this.#limiter = limiter;
    this.call = call;
    this.position = position;
  }

  acquire(token: string): Admission | Promise<Admission> {
    this.release();
    const gate = this.#limiter.gateOf(token);
    this.#gate = gate;
    return gate.enter(this) ?? this.#waitAt(gate);
  }

  report(head: RateLimitHead): ReportedPause | undefined {
    return this.#gate?.report(this, head);
  }

  release(): void {
    this.#gate?.release(this);
    this.#gate = undefined;
    this.#wait = undefined;
  }

  /** The gate has decided. */
  settle(admission: Admission): void {
    if (this.#wait === undefined) return;
    this.#wait.admission = admission;
    this.#wait.look();
  }

  /** The wait arms its timer anew if it would sleep for longer. */
  wake(at: number): void {
    if (this.#wait !== undefined && at < this.#wait.until) this.#wait.look();
  }

  async #waitAt(gate: TokenGate): Promise<Admission> {
    const { signal } = this.call;
    const wait: Wait = { admission: undefined, until: 0, look() {} };
    this.#wait = wait;
    const stop = (): void => gate.dismiss(this, STOPPED);
    // The signal is the call's own, with no other listener to share.
    signal.addEventListener("abort", stop);
    // An event does not reach a listener that is added after it.
    if (signal.aborted) stop();
    try {
      for (;;) {
        while (wait.admission === undefined) await sleepUntilRoom(gate, wait);
        const { admission } = wait;
        if (admission.kind !== "admitted" || this.#wait !== wait) return admission;
        if (gate.take(this)) return admission;
        // It came too late for its slot, and waits again at its position.
        wait.admission = gate.enter(this);
      }
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }
}

/** Sleeps until the gate has decided, has changed, or may have room by now: each wait has a timer of its own. */
async function sleepUntilRoom(gate: TokenGate, wait: Wait): Promise<void> {
  const at = gate.sleepUntil();
  let cancel = (): void => {};
  wait.until = at;
  await new Promise<void>((resolve) => {
    wait.look = resolve;
    cancel = after(at - now(), () => {
      // Those that it admits go on in order, this wait among them.
      gate.look(at);
      resolve();
    });
  });
  cancel();
}
