import { after, now, sleep } from "../clock.ts";
import { ConnectionError } from "../errors/client-errors.ts";
import { shortened } from "../jitter.ts";
import type { MemoryRateLimiter } from "../rate-limit/memory-rate-limiter.ts";
import type { RateLimitAnswer } from "../rate-limit/rate-limiter.ts";
import type { Forgettable } from "../rate-limit/token-map.ts";
import type { Lease, Leases } from "./leases.ts";
import { CLEAR, LONGEST_SHARED_PAUSE_MS, REPORT, SYNC, TAKE } from "./scripts.ts";
import type { SlotReply } from "./slot-reply.ts";
import { type Connection, type TokenCommand, TokenCommands, whole } from "./token-commands.ts";

/**
 * A process that waits for a slot asks again after so long, times its place in line, doubling while the line stands
 * still, and each time less a random part of up to half.
 */
const FIRST_POLL_MS = 20;
const MAX_POLL_MS = 250;
const POLL_JITTER = 1 / 2;
/** How often, in the life of a lease, this process sends Redis all that it knows. */
const SYNCS_PER_LEASE = 3;

/** What the gates of one limiter have in common. */
export interface FleetSettings {
  readonly connection: Connection;
  readonly leases: Leases;
  readonly local: MemoryRateLimiter;
}

/** A call that its own process lets go, and that waits for the other processes. */
export interface SlotRequest {
  readonly signal: AbortSignal;
  /** Whether its own process would still let it go. */
  readonly isStillAdmitted: () => boolean;
}

/** What this process and the others share of one token: pauses, the probe, and what is left. */
export class FleetGate implements Forgettable {
  readonly #token: string;
  readonly #local: MemoryRateLimiter;
  readonly #leases: Leases;
  readonly #held = new Set<Lease>();
  readonly #commands: TokenCommands;
  /** Requests that wait for a slot, in order, each with what wakes it. Only the first one asks. */
  readonly #line = new Map<SlotRequest, () => void>();
  #cancelSync: (() => void) | undefined;
  #users = 0;
  /** As Redis last replied. */
  #pauses = 0;
  #clearedAt: number | undefined;
  /** The end of the pause that is shared, on the local clock. */
  #sharedPauseEndsAt = 0;

  constructor(token: string, { connection, leases, local }: FleetSettings) {
    this.#token = token;
    this.#local = local;
    this.#leases = leases;
    this.#commands = new TokenCommands(connection, token);
  }

  get isIdle(): boolean {
    return this.#users === 0 && this.#sharedPauseEndsAt <= now();
  }

  /** Whether Redis is asked. Otherwise this process goes by its own gate alone. */
  get isShared(): boolean {
    return this.#commands.isShared;
  }

  /** A call begins to use the gate. While calls use it, this process regularly sends Redis what it knows. */
  enter(): void {
    this.#users += 1;
    this.#scheduleSync();
    this.#tryAgain();
  }

  /** A call no longer uses the gate. */
  exit(): void {
    this.#users -= 1;
    if (this.#users > 0) return;
    this.#cancelSync?.();
    this.#cancelSync = undefined;
  }

  /**
   * Waits until the other processes leave room. Resolves with a lease when the request may be sent, and with `undefined`
   * when it was aborted or has to wait at the gate of its own process again.
   */
  async acquire(request: SlotRequest): Promise<Lease | undefined> {
    const { signal } = request;
    let [polls, ahead] = [0, -1];
    try {
      while (!signal.aborted && request.isStillAdmitted()) {
        if (!this.isShared) return this.register();
        if (!this.#isFirst(request)) {
          const turn = new Promise<void>((resolve) => void this.#line.set(request, resolve));
          await unlessAborted(turn, signal);
          continue;
        }
        const lease = this.register();
        const reply = await unlessAborted(this.#take(lease), signal);
        if (!signal.aborted && isGranted(reply)) return lease;
        this.#drop(lease, signal.aborted);
        if (reply?.outcome !== "full") return undefined;
        polls = reply.ahead === ahead ? polls + 1 : 0;
        ahead = reply.ahead;
        const longestMs = Math.min(FIRST_POLL_MS * (ahead + 1) * 2 ** Math.min(polls, 10), MAX_POLL_MS);
        if (!this.#line.has(request)) this.#line.set(request, () => {});
        await sleep(shortened(longestMs, POLL_JITTER, Math.random()), signal);
      }
      return undefined;
    } finally {
      this.#line.delete(request);
      // The next one asks at once, so that this process does not miss its turn.
      const [wakeNext] = this.#line.values();
      wakeNext?.();
      // The place of this process in line is free for others at once.
      if (signal.aborted && this.#line.size === 0 && this.isShared) void this.#run(this.#sync());
    }
  }

  /** Asks once for a slot, or whether a slot that was granted earlier may still be used. */
  async ask(lease: Lease): Promise<boolean> {
    return isGranted(await this.#take(lease));
  }

  /** Registers a request that is about to be sent. */
  register(): Lease {
    const lease = this.#leases.create(this.#pauses);
    this.#held.add(lease);
    return lease;
  }

  /** Releases a slot, with the response to its request, if there is one. */
  giveBack(lease: Lease, answer: RateLimitAnswer | undefined): void {
    const pause = answer?.status === 429 ? this.#local.state(this.#token).pause : undefined;
    if (pause !== undefined) {
      const sharedMs = Math.min(pause.lastsMs, LONGEST_SHARED_PAUSE_MS);
      this.#sharedPauseEndsAt = Math.max(this.#sharedPauseEndsAt, now() + sharedMs);
    }
    if (!this.#held.delete(lease) || !this.isShared) return;
    const outcome = answer === undefined ? "left" : answer.status === 429 ? "refused" : "passed";
    const granted = [whole(lease.grantedAt), String(lease.pausesBefore)];
    const asked = [whole(pause?.askedMs ?? 0), whole(pause?.lastsMs ?? 0)];
    const limits = [String(answer?.remaining ?? ""), String(answer?.limit ?? "")];
    void this.#run(this.#command(REPORT, [lease.id, outcome, ...granted, ...asked, ...limits]));
  }

  /** Clears the pause for all processes. Rejects with `ConnectionError` if Redis does not confirm it in time. */
  async clearPause(): Promise<void> {
    this.#sharedPauseEndsAt = 0;
    this.#local.clearPause(this.#token);
    if ((await this.#run(this.#command(CLEAR, []))) !== undefined) return;
    throw new ConnectionError("clearPause: Redis did not confirm in time, so other processes may still be paused");
  }

  #isFirst(request: SlotRequest): boolean {
    const [first = request] = this.#line.keys();
    return first === request;
  }

  async #take(lease: Lease): Promise<SlotReply | undefined> {
    this.#leases.ask(lease);
    const args = [lease.id, whole(this.#leases.left(lease)), whole(this.#leases.leaseMs)];
    const reply = await this.#run(this.#command(TAKE, args));
    this.#leases.settle(lease, reply);
    return reply;
  }

  /** Forgets a slot that was not granted, and releases it if that is not known yet. */
  #drop(lease: Lease, mayBeGranted: boolean): void {
    if (mayBeGranted) this.giveBack(lease, undefined);
    else this.#held.delete(lease);
  }

  #scheduleSync(): void {
    this.#cancelSync ??= after(this.#leases.leaseMs / SYNCS_PER_LEASE, () => {
      this.#cancelSync = undefined;
      this.#scheduleSync();
      if (this.isShared) void this.#run(this.#sync());
      else this.#tryAgain();
    });
  }

  /** Tries whether Redis is back, unless that was done a moment ago. No call waits for it. */
  #tryAgain(): void {
    if (this.#commands.mayTry) void this.#rejoin();
  }

  async #rejoin(): Promise<void> {
    this.#learn(await this.#commands.trial(() => this.#sync()));
  }

  async #run(command: TokenCommand): Promise<SlotReply | undefined> {
    // A command that is run late may take a slot for a call that is over.
    const correct = (): void => void (this.isShared ? this.#run(this.#sync()) : this.#rejoin());
    const reply = await this.#commands.run(command, correct);
    this.#learn(reply);
    return reply;
  }

  /** Tells Redis all that this process holds. */
  #sync(): TokenCommand {
    return this.#command(SYNC, [this.#line.size > 0 ? "1" : "0", ...this.#leases.describe(this.#held)]);
  }

  /** Every command reminds Redis of what it may have forgotten. */
  #command(script: string, args: readonly string[]): TokenCommand {
    const { pause, refusals, mustProbe } = this.#local.state(this.#token);
    const lastsMs = Math.max(0, Math.min(pause?.lastsMs ?? 0, this.#sharedPauseEndsAt - now()));
    const askedMs = Math.min(pause?.askedMs ?? 0, lastsMs);
    const reminder = [String(this.#clearedAt ?? ""), whole(askedMs), whole(lastsMs), mustProbe ? String(refusals) : ""];
    return { script, args: [...reminder, ...args] };
  }

  #learn(reply: SlotReply | undefined): void {
    if (reply === undefined) return;
    const { reading, pauses, clearedAt } = reply;
    this.#pauses = pauses;
    if (this.#clearedAt !== undefined && clearedAt > this.#clearedAt) {
      this.#sharedPauseEndsAt = 0;
      this.#local.clearPause(this.#token);
    }
    this.#clearedAt = Math.max(clearedAt, this.#clearedAt ?? 0);
    if (reading.pause !== undefined) this.#sharedPauseEndsAt = now() + reading.pause.lastsMs;
    this.#local.merge(this.#token, reading);
  }
}

/** Without a reply, the process decides alone. */
function isGranted(reply: SlotReply | undefined): boolean {
  return reply === undefined || reply.outcome === "granted";
}

/** Resolves as the promise does, or with `undefined` as soon as the signal aborts. */
function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve(undefined);
    signal.addEventListener("abort", stop);
    promise.finally(() => signal.removeEventListener("abort", stop)).then(resolve, reject);
  });
}
