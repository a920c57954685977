import { after, now } from "../clock.ts";
import { shortened } from "../jitter.ts";
import type { Lane } from "../rate-limit/lane.ts";
import type { RateLimitAnswer } from "../rate-limit/rate-limiter.ts";
import type { Command } from "./client.ts";
import type { Link } from "./link.ts";
import type { Reply, Verdict } from "./reply.ts";
import { RENEW, REPORT, TAKE } from "./scripts.ts";

/** While others hold what there is, a process asks again after so long, doubling. */
const FIRST_POLL_MS = 20;
const MAX_POLL_MS = 250;
const POLL_JITTER = 1 / 2;
/** Leases are renewed so often before they run out. */
const RENEWALS = 3;

/** A request in flight, as others see it. */
export interface Slot {
  readonly id: string;
  /** When it was granted by the clock of Redis, and how many pauses had begun then. */
  startedAt: number;
  pausesBefore: number;
}

/** What the lanes of a process have in common with those of others. */
export interface Sharing {
  readonly link: Link;
  readonly leaseMs: number;
  /** Lets those go who may. */
  readonly pump: () => void;
}

/** What the processes of one token share of their lanes. */
export class SharedLane {
  readonly lane: Lane;
  readonly #sharing: Sharing;
  readonly #findKeys: Promise<readonly string[]>;
  /** Known from the first use on, so that commands keep the order in which they are given. */
  #keys: readonly string[] | undefined;
  readonly #slots = new Map<string, Slot>();
  #cancelRenewal: (() => void) | undefined;
  #pauses = 0;
  #clock: { readonly redisNow: number; readonly at: number } | undefined;
  #polls = 0;
  #heldUntil = 0;
  /** Questions that wait for their answer, and how many more may go by the latest one. */
  #asking = 0;
  #room = Number.POSITIVE_INFINITY;

  constructor(lane: Lane, keys: Promise<readonly string[]>, sharing: Sharing) {
    this.lane = lane;
    this.#findKeys = keys;
    this.#sharing = sharing;
  }

  /**
   * Whether asking is in vain unless some that ask at the moment get none: what one of them is told is waited for, so that
   * a crowd costs no more commands than there is room.
   */
  get isCrowded(): boolean {
    if (this.#asking < Math.max(1, this.#room)) return false;
    this.lane.hold(this.#sharing.link.commandTimeoutMs);
    return true;
  }

  /** Registers a request that is about to be sent; others count it while Redis is there. */
  enter(id: string): Slot {
    const slot = { id, startedAt: 0, pausesBefore: this.#pauses };
    this.#slots.set(id, slot);
    this.#scheduleRenewal();
    return slot;
  }

  /** Asks whether all the others leave room for it; `undefined` if that is not known in time. */
  async take(slot: Slot): Promise<Verdict | undefined> {
    this.#asking += 1;
    const reply = await this.#run(TAKE, [slot.id, String(this.#sharing.leaseMs), this.#unresolved]);
    this.#asking -= 1;
    if (reply?.verdict !== "full") this.endHold();
    if (reply === undefined) return undefined;
    if (reply.verdict === "granted") {
      slot.startedAt = reply.redisNow;
      slot.pausesBefore = reply.news.pauses;
      this.#polls = 0;
    } else {
      this.#forget(slot);
      if (reply.verdict === "full") this.#holdBack();
    }
    return reply.verdict;
  }

  /** The request was answered: it counts no more, and the others are told what the service says. */
  answered(slot: Slot, { status, remaining, limit }: RateLimitAnswer): void {
    const pause = status === 429 ? this.lane.pause : undefined;
    this.#giveBack(slot, [
      status === 429 ? "refused" : "answered",
      String(slot.startedAt),
      String(slot.pausesBefore),
      whole(pause?.askedMs),
      whole(pause?.lastsMs),
      remaining === undefined ? "" : String(remaining),
      limit === undefined ? "" : String(limit),
    ]);
  }

  /** The request was not sent, or not answered: whatever it held is free. */
  left(slot: Slot): void {
    this.#giveBack(slot, ["left", "0", "0", "0", "0", "", ""]);
  }

  /** There may be room again, as far as this process can tell: whoever waits may ask. */
  endHold(): void {
    this.#heldUntil = 0;
    this.lane.endHold();
  }

  /** Tries whether Redis is back, unless that was done a moment ago; nobody waits for it. */
  tryAgain(): void {
    if (this.#sharing.link.mayRetry) void this.#rejoin();
  }

  #giveBack(slot: Slot, report: readonly string[]): void {
    if (!this.#forget(slot)) return;
    this.endHold();
    if (this.#sharing.link.isUp) void this.#tell(REPORT, [slot.id, ...report]);
  }

  #forget(slot: Slot): boolean {
    const wasThere = this.#slots.delete(slot.id);
    if (this.#slots.size === 0) {
      this.#cancelRenewal?.();
      this.#cancelRenewal = undefined;
    }
    return wasThere;
  }

  #holdBack(): void {
    if (now() < this.#heldUntil) {
      // Those that asked at the same time learn of the same thing.
      this.lane.hold(this.#heldUntil - now());
      return;
    }
    const longest = Math.min(FIRST_POLL_MS * 2 ** Math.min(this.#polls, 10), MAX_POLL_MS);
    const pollMs = shortened(longest, POLL_JITTER, Math.random());
    this.#polls += 1;
    this.#heldUntil = now() + pollMs;
    this.lane.hold(pollMs);
  }

  #scheduleRenewal(): void {
    this.#cancelRenewal ??= after(this.#sharing.leaseMs / RENEWALS, () => {
      this.#cancelRenewal = undefined;
      this.#scheduleRenewal();
      if (this.#sharing.link.isUp) void this.#tell(RENEW, this.#renewal(undefined));
      else this.tryAgain();
    });
  }

  async #rejoin(): Promise<void> {
    const { link } = this.#sharing;
    this.#keys ??= await this.#findKeys;
    if (!link.mayRetry) return;
    const reply = await link.retry(this.#command(RENEW, this.#renewal(this.lane.pause), this.#keys));
    if (reply === undefined) return;
    this.#learn(reply);
    this.#sharing.pump();
  }

  #renewal(pause: Lane["pause"]): string[] {
    const known = [this.#unresolved, whole(pause?.askedMs), whole(pause?.lastsMs)];
    return [String(this.#sharing.leaseMs), ...known, ...this.#slots.keys()];
  }

  get #unresolved(): string {
    return String(this.lane.unresolved ?? "");
  }

  async #tell(script: string, args: readonly string[]): Promise<void> {
    if ((await this.#run(script, args)) !== undefined) this.#sharing.pump();
  }

  async #run(script: string, args: readonly string[]): Promise<Reply | undefined> {
    this.#keys ??= await this.#findKeys;
    const reply = await this.#sharing.link.run(this.#command(script, args, this.#keys));
    if (reply !== undefined) this.#learn(reply);
    return reply;
  }

  #command(script: string, args: readonly string[], keys: readonly string[]): Command {
    const sentAt = this.#clock === undefined ? 0 : this.#clock.redisNow + now() - this.#clock.at;
    // Between the two clocks there are the ways of a reply and of a command.
    const mayBeLateMs = 2 * this.#sharing.link.commandTimeoutMs;
    return { script, keys, args: [whole(sentAt), whole(mayBeLateMs), ...args] };
  }

  #learn({ redisNow, news, room }: Reply): void {
    this.#room = room;
    this.#clock = { redisNow, at: now() };
    if (news.pauses !== this.#pauses) this.#polls = 0;
    this.#pauses = news.pauses;
    this.lane.learn(news);
  }
}

/** As scripts take it, and never less. */
function whole(ms = 0): string {
  return String(Math.min(Math.ceil(ms), Number.MAX_SAFE_INTEGER));
}
