import type {
  Admission,
  Permit,
  RateLimitAnswer,
  RateLimitedCall,
  RateLimiter,
  RateLimitSnapshot,
} from "./rate-limiter.ts";
import type { SharedReading, SharedState } from "./shared-state.ts";
import { TokenGate, type Waiter } from "./token-gate.ts";
import { TokenMap } from "./token-map.ts";

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
  return new MemoryRateLimiter();
}

const ADMITTED: Admission = { kind: "admitted" };
const STOPPED: Admission = { kind: "stopped" };
const NOTHING_KNOWN: SharedState = { pause: undefined, refusals: 0, mustProbe: false };

/**
 * The class behind `memoryRateLimiter()`. A rate limiter that shares with other processes wraps it: `state` returns what
 * this process knows of a token, and `merge` takes over what others know.
 */
export class MemoryRateLimiter implements RateLimiter {
  readonly #gates = new TokenMap((token) => new TokenGate(token));
  /** Permits that wait in a queue. */
  readonly #waiting = new Set<MemoryPermit>();
  #places = 0;

  enter(call: RateLimitedCall): MemoryPermit {
    this.#places += 1;
    return new MemoryPermit({ call, place: this.#places, gates: this.#gates, waiting: this.#waiting });
  }

  refresh(): void {
    const strangers = [...this.#waiting].filter((permit) => permit.isAtWrongGate);
    strangers.sort((one, other) => one.place - other.place);
    // All leave before any gate looks at its queue: the pause of a gate may be over though its timer has not fired, and
    // then it would admit a call that is about to join another gate.
    const gates = new Set(strangers.map((permit) => permit.leaveGate()));
    for (const permit of strangers) permit.joinGate();
    for (const gate of gates) gate?.pump();
  }

  snapshot(token: string): RateLimitSnapshot | undefined {
    return this.#gates.find(token)?.snapshot;
  }

  /** What this process knows of a token, as other processes would want to know it. */
  state(token: string): SharedState {
    return this.#gates.find(token)?.state ?? NOTHING_KNOWN;
  }

  /** Takes over what other processes know of a token. Waiting calls may be admitted or refused by it. */
  merge(token: string, reading: SharedReading): void {
    this.#gates.get(token).merge(reading);
  }

  /** Ends the pause of a token at once, and lets one request go ahead. */
  clearPause(token: string): void {
    this.#gates.find(token)?.clearPause();
  }
}

/** What a permit needs of its limiter. */
interface Entry {
  readonly call: RateLimitedCall;
  readonly place: number;
  readonly gates: TokenMap<TokenGate>;
  readonly waiting: Set<MemoryPermit>;
}

/** A call at the gate of its token. */
export class MemoryPermit implements Permit, Waiter {
  readonly call: RateLimitedCall;
  readonly place: number;
  before: Waiter | undefined;
  behind: Waiter | undefined;
  queuedAt: TokenGate | undefined;
  countsPausesOf: TokenGate | undefined;
  pausesBeforeArrival = 0;
  refusals = 0;
  pausesBeforeStart = 0;
  startedAt = 0;
  readonly #gates: TokenMap<TokenGate>;
  readonly #waiting: Set<MemoryPermit>;
  /** The gate that it has joined, or has been admitted by. */
  #gate: TokenGate | undefined;
  #isAdmitted = false;
  #wake: ((admission: Admission) => void) | undefined;

  constructor({ call, place, gates, waiting }: Entry) {
    this.call = call;
    this.place = place;
    this.#gates = gates;
    this.#waiting = waiting;
  }

  acquire(token?: string): Admission | Promise<Admission> {
    let admission: Admission | undefined;
    this.#wake = (settled) => {
      admission = settled;
    };
    if (token !== undefined && this.#isAdmittedBy(this.#gates.get(token))) return ADMITTED;
    this.joinGate();
    return admission ?? this.#wait();
  }

  confirm(token: string): boolean {
    const gate = this.#gate;
    if (gate === undefined || !this.#isAdmitted) return false;
    const next = this.#gates.get(token);
    if (next === gate && gate.confirm(this)) return true;
    // The token is another one, or a pause has begun and may even have ended: it is admitted anew, or not.
    this.#isAdmitted = false;
    gate.finish(this);
    const isAdmitted = this.#isAdmittedBy(next);
    gate.pump();
    return isAdmitted;
  }

  report(answer: RateLimitAnswer): number | undefined {
    return this.#isAdmitted ? this.#gate?.report(this, answer) : undefined;
  }

  release(): void {
    if (!this.#isAdmitted) return;
    this.#isAdmitted = false;
    this.#gate?.finish(this);
    this.#gate?.pump();
  }

  settle(admission: Admission): void {
    this.#isAdmitted = admission.kind === "admitted";
    this.#wake?.(admission);
  }

  /**
   * Whether it waits at the gate of a token that its call no longer has. A call that came before the first token was known
   * stays: it is admitted there in its turn, and moves when it confirms its token.
   */
  get isAtWrongGate(): boolean {
    const token = this.queuedAt?.token;
    return token !== undefined && token !== "" && token !== this.call.token();
  }

  /** Takes it out of the queue that it waits in. Returns the gate of that queue, which has to look at it again. */
  leaveGate(): TokenGate | undefined {
    const gate = this.queuedAt;
    gate?.leave(this);
    return gate;
  }

  /** Waits at the gate of its call's present token. */
  joinGate(): void {
    this.#gate = this.#gates.get(this.call.token());
    this.#gate.join(this);
  }

  /** Asks the gate of a token that the call has. */
  #isAdmittedBy(gate: TokenGate): boolean {
    this.#gate = gate;
    this.#isAdmitted = gate.admit(this);
    return this.#isAdmitted;
  }

  #wait(): Promise<Admission> {
    const { signal } = this.call;
    const stop = (): void => {
      this.leaveGate()?.pump();
      this.settle(STOPPED);
    };
    this.#waiting.add(this);
    return new Promise((resolve) => {
      this.#wake = (admission) => {
        this.#waiting.delete(this);
        signal.removeEventListener("abort", stop);
        resolve(admission);
      };
      signal.addEventListener("abort", stop);
      // An event does not reach a listener that is added after it.
      if (signal.aborted) stop();
    });
  }
}
