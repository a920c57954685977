import type { Pause } from "../client/rate-limit/pause.ts";
import type { Quota } from "../client/rate-limit/quota.ts";
import { now } from "../client/time/clock.ts";

/**
 * The reply of Redis to a command: a slot was granted; a pause is running; others hold or wait for all there is; the
 * command came too late to count; or, where no slot was asked for, it is done.
 */
const OUTCOMES = ["granted", "paused", "full", "late", "done"] as const;

/** Result of every script: how it ended, and what processes share about the token. */
export interface SlotReply {
  readonly outcome: (typeof OUTCOMES)[number];
  /** The clock of Redis, in milliseconds. */
  readonly redisNow: number;
  /** Rest of the running pause. */
  readonly pause: Pause | undefined;
  /** Counts the pauses of the token. */
  readonly pauses: number;
  /** Pauses in a row since a request last got through. */
  readonly refusals: number;
  /** `true` if one request goes ahead alone once no pause runs. */
  readonly mustProbe: boolean;
  /** When a pause was last cleared by hand, on the clock of Redis; 0 for never. */
  readonly clearedAt: number;
  /** The limit, as the service told any of the processes; `undefined` before it has. */
  readonly quota: Omit<Quota, "learntAt"> | undefined;
  /** After `full`: how many processes are before this one. */
  readonly ahead: number;
}

const FIELDS = 12;

/** Reads what a script returned. Throws `TypeError` for anything that no script returns. */
export function readSlotReply(raw: unknown): SlotReply {
  if (!Array.isArray(raw) || raw.length !== FIELDS) throw new TypeError("not a reply");
  const [first, ...others] = raw as readonly unknown[]; // it is an array
  const outcome = OUTCOMES.find((word) => word === first);
  const numbers = others.map(Number);
  if (outcome === undefined || numbers.some(Number.isNaN)) throw new TypeError("not a reply");
  const [redisNow = 0, lastsMs = 0, askedMs = 0, pauses = 0, refusals = 0, mustProbe = 0, ...more] = numbers;
  const [clearedAt = 0, remaining = -1, sinceMs = 0, limit = -1, ahead = 0] = more;
  const quota = {
    limit: limit < 0 ? undefined : limit,
    remaining: remaining < 0 ? undefined : remaining,
    readAt: now() - sinceMs,
  };
  return {
    outcome,
    redisNow,
    pause: lastsMs > 0 ? { lastsMs, askedMs } : undefined,
    pauses,
    refusals,
    mustProbe: mustProbe === 1,
    clearedAt,
    quota: quota.limit === undefined && quota.remaining === undefined ? undefined : quota,
    ahead,
  };
}
