import { now } from "../clock.ts";
import type { SharedReading } from "../rate-limit/shared-state.ts";

/**
 * How Redis replied to a command: a slot was granted; a pause is running; others hold or wait for all there is; the
 * command came too late to count; or, where no slot was asked for, it is done.
 */
export type SlotOutcome = "granted" | "paused" | "full" | "late" | "done";

/** What every script returns. */
export interface SlotReply {
  readonly outcome: SlotOutcome;
  /** The clock of Redis, in milliseconds. */
  readonly redisNow: number;
  /** Counts the pauses of the token. */
  readonly pauses: number;
  /** When a pause was last cleared by hand, on the clock of Redis; 0 for never. */
  readonly clearedAt: number;
  readonly reading: SharedReading;
  /** How many more requests this process may send, as far as is known. */
  readonly room: number;
  /** After `full`: how many processes are before this one. */
  readonly ahead: number;
}

const OUTCOMES: readonly unknown[] = ["granted", "paused", "full", "late", "done"] satisfies SlotOutcome[];
const FIELDS = 14;

/** Reads what a script returned. Throws `TypeError` for anything that no script returns. */
export function readSlotReply(raw: unknown): SlotReply {
  if (!Array.isArray(raw) || raw.length !== FIELDS) throw new TypeError("not a reply");
  const [first, ...others] = raw as readonly unknown[]; // it is an array
  const outcome = String(first);
  const numbers = others.map(Number);
  if (!isOutcome(outcome) || numbers.some(Number.isNaN)) throw new TypeError("not a reply");
  const [redisNow = 0, lastsMs = 0, askedMs = 0, pauses = 0, refusals = 0, mustProbe = 0, ...more] = numbers;
  const [clearedAt = 0, remaining = -1, sinceMs = 0, observedMs = 0, limit = -1, room = -1, ahead = 0] = more;
  const quota = remaining < 0 ? undefined : { remaining, since: now() - sinceMs, observedAt: now() - observedMs };
  return {
    outcome,
    redisNow,
    pauses,
    clearedAt,
    reading: {
      pause: lastsMs > 0 ? { lastsMs, askedMs } : undefined,
      refusals,
      mustProbe: mustProbe === 1,
      quota,
      limit: limit < 0 ? undefined : limit,
    },
    room: room < 0 ? Number.POSITIVE_INFINITY : room,
    ahead,
  };
}

function isOutcome(word: string): word is SlotOutcome {
  return OUTCOMES.includes(word);
}
