import { STALLED_AFTER_MS } from "../core/rate-limit/token-gate.ts";
import { now } from "../core/time/clock.ts";
import type { SlotReply } from "./slot-reply.ts";
import { whole } from "./token-commands.ts";

/** A request in flight, as other processes see it. */
export interface Lease {
  readonly id: string;
  /** When it was granted: on the local clock, and on that of Redis (0 if it was sent without asking). */
  heldSince: number;
  grantedAt: number;
  pausesBefore: number;
  /** `true` if Redis was asked for it and has not replied yet. */
  isAsked: boolean;
}

export class Leases {
  /** Milliseconds for which a process that died still counts. */
  readonly leaseMs: number;
  readonly #process: string;
  #created = 0;

  constructor(process: string, leaseMs: number) {
    this.#process = process;
    this.leaseMs = leaseMs;
  }

  create(pausesBefore: number): Lease {
    this.#created += 1;
    return { id: `${this.#process}:${this.#created}`, heldSince: now(), grantedAt: 0, pausesBefore, isAsked: false };
  }

  ask(lease: Lease): void {
    lease.heldSince = now();
    lease.isAsked = true;
  }

  settle(lease: Lease, reply: SlotReply | undefined): SlotReply | undefined {
    lease.isAsked = false;
    if (reply?.outcome === "granted") {
      lease.heldSince = now();
      lease.grantedAt = reply.redisNow;
      lease.pausesBefore = reply.pauses;
    }
    return reply;
  }

  /** For how long Redis is to count the request, in milliseconds: not once it is stalled. */
  left({ heldSince }: Lease): number {
    return Math.min(this.leaseMs, heldSince + STALLED_AFTER_MS - now());
  }

  /**
   * The arguments that describe leases to a script: the number of the latest one, then each lease and for how long it is
   * renewed; 0 keeps it as it is.
   */
  describe(held: Iterable<Lease>): string[] {
    const kept = [...held].filter((lease) => this.left(lease) > 0);
    const pairs = kept.flatMap((lease) => [lease.id, lease.isAsked ? "0" : whole(this.left(lease))]);
    return [String(this.#created), ...pairs];
  }
}
