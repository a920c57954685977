import { type Pace, UNPACED } from "../core/rate-limit/pace.ts";
import type { Pause } from "../core/rate-limit/pause.ts";
import type { Quota } from "../core/rate-limit/quota.ts";
import { now } from "../core/time/clock.ts";

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
  /** The time until the next request may go at its distance, in milliseconds. */
  readonly distanceLeftMs: number;
  /** The width and the distance after a pause, which all processes keep together. */
  readonly pace: Pace;
}

const FIELDS = 18;

/** Reads what a script returned. Throws `TypeError` for anything that no script returns. */
export function readSlotReply(raw: unknown): SlotReply {
  if (!Array.isArray(raw) || raw.length !== FIELDS) throw new TypeError("not a reply");
  const [first, ...others] = raw as readonly unknown[]; // it is an array
  const outcome = OUTCOMES.find((word) => word === first);
  const numbers = others.map(Number);
  if (outcome === undefined || numbers.some(Number.isNaN)) throw new TypeError("not a reply");
  const [redisNow = 0, lastsMs = 0, askedMs = 0, pauses = 0, refusals = 0, mustProbe = 0, ...more] = numbers;
  const [clearedAt = 0, remaining = -1, sinceMs = 0, limit = -1, ahead = 0, distanceLeftMs = 0, ...paced] = more;
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
    distanceLeftMs,
    pace: readPace(paced),
  };
}

function readPace([calmMs = -1, width = 0, widest = 0, distanceMs = 0, passedMs = 0]: readonly number[]): Pace {
  if (calmMs < 0) return UNPACED;
  const limit = widest === 0 ? Number.POSITIVE_INFINITY : widest;
  const at = now();
  return { width, widest: limit, distanceMs, tooNearMs: 0, passed: 0, passedAt: at - passedMs, pausedAt: at - calmMs };
}
