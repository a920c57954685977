import type { RateLimitHead } from "../client/index.ts";
import { type Ticket, TokenGate } from "../core/rate-limit/token-gate.ts";
import { after, now } from "../core/time/clock.ts";
import { type Deadline, STOPPED } from "../core/time/deadline.ts";
import { shortened } from "../core/time/jitter.ts";
import type { Lease, Leases } from "./leases.ts";
import { LONGEST_SHARED_PAUSE_MS, REPORT, SYNC, TAKE } from "./scripts.ts";
import { describePace, type SlotReply } from "./slot-reply.ts";
import { type Connection, type TokenCommand, TokenCommands, whole } from "./token-commands.ts";
import type { TokenAtService } from "./token-keys.ts";

/**
 * A process that waits for a slot asks again after so long, times its place in the queue, doubling while the queue stands
 * still, and each time less a random part of up to half.
 */
const FIRST_POLL_MS = 20;
const MAX_POLL_MS = 250;
const POLL_JITTER = 1 / 2;
/** In the life of a lease, this process sends Redis all its knowledge so many times. */
const SYNCS_PER_LEASE = 3;
/** The first call that waits asks within so long, in milliseconds, beside the time that Redis takes. */
const SILENT_MS = 2 * MAX_POLL_MS;

interface FleetWait {
  /** Ends the sleep of one that is not the first. */
  wake(): void;
  /** The first one is alive until then: a platform may drop a call, and the next one has to ask. */
  asksBy: number;
}

/** The gate of one token at one service in this process, which shares pauses, the probe, and what is left with the other processes. */
export class FleetGate extends TokenGate {
  readonly #leases: Leases;
  readonly #held = new Set<Lease>();
  readonly #commands: TokenCommands;
  /** Calls that wait for a slot, in order. Only the first one asks. */
  readonly #waiting = new Map<Ticket, FleetWait>();
  readonly #commandTimeoutMs: number;
  #cancelSync: (() => void) | undefined;
  #users = 0;
  #pauses = 0;
  /** Requests of all processes, as of the latest reply. */
  #fleetInFlight = 0;
  /** The end of the pause that is shared, on the local clock. */
  #sharedPauseEndsAt = 0;

  constructor(of: TokenAtService, connection: Connection, leases: Leases) {
    super();
    this.#leases = leases;
    this.#commandTimeoutMs = connection.commandTimeoutMs;
    const sync = (): TokenCommand => this.#sync();
    this.#commands = new TokenCommands(connection, of, { sync, learn: (reply) => this.#learn(reply) });
  }

  override get isIdle(): boolean {
    return this.#users === 0 && this.#sharedPauseEndsAt <= now() && super.isIdle;
  }

  override get inFlight(): number {
    return Math.max(super.inFlight, this.isShared ? this.#fleetInFlight : 0);
  }

  /** `true` if Redis is asked. Otherwise this process uses its own gate alone. */
  get isShared(): boolean {
    return this.#commands.isShared;
  }

  /** A call begins to use the gate. While calls use it, this process regularly sends Redis what it knows. */
  use(): void {
    this.#users += 1;
    this.#scheduleSync();
    if (this.#commands.mayTry) this.#commands.sync();
  }

  unuse(): void {
    this.#users -= 1;
    if (this.#users > 0) return;
    this.#cancelSync?.();
    this.#cancelSync = undefined;
  }

  /**
   * Waits until the other processes leave room for a call that this one admits. Resolves with a lease when its request may
   * be sent, and with `undefined` when it has to wait in this process again. Rejects with `STOPPED`.
   */
  async acquire(ticket: Ticket, deadline: Deadline): Promise<Lease | undefined> {
    let [polls, ahead] = [0, -1];
    const wait: FleetWait = { wake: () => {}, asksBy: this.#nextAskBy() };
    this.#waiting.set(ticket, wait);
    try {
      while (this.pauseLeft === undefined) {
        if (deadline.reason !== undefined) throw STOPPED;
        // This call still runs, so it renews its local slot. A slot that has ended may be another call's.
        if (!this.take(ticket)) return undefined;
        if (!this.isShared) return this.register();
        const [[first, { asksBy }] = [ticket, wait]] = this.#waiting;
        if (first !== ticket) {
          if (asksBy < now()) this.#waiting.delete(first);
          else await this.#sleepBehind(wait, asksBy, deadline);
          continue;
        }
        wait.asksBy = this.#nextAskBy();
        const lease = this.register();
        const reply = await this.#take(lease, deadline);
        if (this.#mayUse(reply) && this.restart(ticket)) return lease;
        if (reply?.outcome === "granted") this.giveBack(lease, undefined);
        else this.#held.delete(lease);
        if (reply?.outcome !== "full") return undefined;
        polls = reply.ahead === ahead ? polls + 1 : 0;
        ahead = reply.ahead;
        const longestMs = Math.min(FIRST_POLL_MS * (ahead + 1) * 2 ** Math.min(polls, 10), MAX_POLL_MS);
        // Time makes room for the first one, if a distance is kept.
        const isNext = ahead === 0 && reply.distanceLeftMs > 0;
        const sleepMs = isNext ? reply.distanceLeftMs : shortened(longestMs, POLL_JITTER, Math.random());
        await deadline.sleep(Math.min(sleepMs, MAX_POLL_MS));
      }
      return undefined;
    } finally {
      this.#waiting.delete(ticket);
      // The next one asks at once, so that this process does not miss its turn.
      const [next] = this.#waiting.values();
      if (next !== undefined) next.asksBy = this.#nextAskBy();
      next?.wake();
      // The place of this process in the queue is free for others at once.
      if (deadline.reason !== undefined && this.#waiting.size === 0 && this.isShared) this.#commands.sync();
    }
  }

  #nextAskBy(): number {
    return now() + this.#commandTimeoutMs + SILENT_MS;
  }

  /** Waits until this call is the first one, or the first one should have asked. */
  async #sleepBehind(wait: FleetWait, asksBy: number, deadline: Deadline): Promise<void> {
    let cancel = (): void => {};
    const awake = new Promise<void>((resolve) => {
      wait.wake = resolve;
      cancel = after(asksBy - now() + 1, resolve);
    });
    await deadline.race(awake).finally(cancel);
  }

  register(): Lease {
    const lease = this.#leases.create(this.#pauses);
    this.#held.add(lease);
    return lease;
  }

  giveBack(lease: Lease, head: RateLimitHead | undefined): void {
    const pause = head?.status === 429 ? this.pauseLeft : undefined;
    if (pause !== undefined) {
      const sharedMs = Math.min(pause.lastsMs, LONGEST_SHARED_PAUSE_MS);
      this.#sharedPauseEndsAt = Math.max(this.#sharedPauseEndsAt, now() + sharedMs);
    }
    if (!this.#held.delete(lease) || !this.isShared) return;
    const outcome = head === undefined ? "left" : head.status === 429 ? "refused" : "passed";
    const granted = [whole(lease.grantedAt), String(lease.pausesBefore)];
    const asked = [whole(pause?.askedMs ?? 0), whole(pause?.lastsMs ?? 0)];
    const limits = [String(head?.remaining ?? ""), String(head?.limit ?? "")];
    const pace = outcome === "refused" ? describePace(this.state.pace) : [];
    void this.#commands.run(this.#command(REPORT, [lease.id, outcome, ...granted, ...asked, ...limits, ...pace]));
  }

  async #take(lease: Lease, deadline: Deadline): Promise<SlotReply | undefined> {
    this.#leases.ask(lease);
    const waitsForMore = this.#waiting.size > 1 ? "1" : "0";
    const asked = this.#commands.run(this.#command(TAKE, [lease.id, whole(this.#leases.left(lease)), waitsForMore]));
    try {
      return await deadline.race(asked.then((reply) => this.#leases.settle(lease, reply)));
    } catch (stopped) {
      // It may be granted all the same.
      this.giveBack(lease, undefined);
      throw stopped;
    }
  }

  #scheduleSync(): void {
    this.#cancelSync ??= after(this.#leases.leaseMs / SYNCS_PER_LEASE, () => {
      this.#cancelSync = undefined;
      this.#scheduleSync();
      if (this.isShared || this.#commands.mayTry) this.#commands.sync();
    });
  }

  #sync(): TokenCommand {
    return this.#command(SYNC, [this.#waiting.size > 0 ? "1" : "0", ...this.#leases.describe(this.#held)]);
  }

  /** Every command reminds Redis of what it may have forgotten. */
  #command(script: string, args: readonly string[]): TokenCommand {
    const { pause, refusals } = this.state;
    const lastsMs = Math.max(0, Math.min(pause?.lastsMs ?? 0, this.#sharedPauseEndsAt - now()));
    const askedMs = Math.min(pause?.askedMs ?? 0, lastsMs);
    const reminder = [whole(askedMs), whole(lastsMs), refusals > 0 ? String(refusals) : ""];
    return { script, args: [...reminder, ...args] };
  }

  #learn(reply: SlotReply): void {
    const { pauses, pause, refusals, quota, pace, inFlight } = reply;
    this.#pauses = pauses;
    this.#fleetInFlight = inFlight;
    if (pause !== undefined) this.#sharedPauseEndsAt = now() + pause.lastsMs;
    const known = this.state.quota;
    const isNews = quota !== undefined || pause !== undefined;
    this.learn({
      quota: isNews ? { ...known, ...quota, learntAt: Date.now() } : known,
      pause,
      refusals,
      pace,
    });
  }

  /** Without a reply, this process decides alone. It may have learnt of a pause while it waited for one. */
  #mayUse(reply: SlotReply | undefined): boolean {
    return (reply === undefined || reply.outcome === "granted") && this.pauseLeft === undefined;
  }
}
