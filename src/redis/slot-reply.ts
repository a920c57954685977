import { type Pace, UNPACED } from "../core/rate-limit/pace.ts";
import type { Pause } from "../core/rate-limit/pause.ts";
import type { Quota } from "../core/rate-limit/quota.ts";
import { now } from "../core/time/clock.ts";

/**
 * The reply of Redis to a command: a slot was granted; a pause is running; others hold or wait for all there is; the
 * command came too late to count; or, where no slot was asked for, it is done.
 */
const OUTCOMES = ["granted", "paused", "full", "late", "done"] as const;

export interface SlotReply {
  readonly outcome: (typeof OUTCOMES)[number];
  readonly redisNow: number;
  readonly pause: Pause | undefined;
  readonly pauses: number;
  readonly refusals: number;
  /** The limit, as the service told any of the processes; `undefined` before it has. */
  readonly quota: Omit<Quota, "learntAt"> | undefined;
  /** After `full`: how many processes are before this one. */
  readonly ahead: number;
  /** The time until the next request may go at its distance, in milliseconds. */
  readonly distanceLeftMs: number;
  readonly pace: Pace;
  /** Requests of all processes. */
  readonly inFlight: number;
}

/** The numbers of a reply after its outcome, in order: the name of each, and how a script computes it. */
export const NUMBERS = {
  redisNow: "now",
  lastsMs: "math.max(0, ending('until') - now)",
  askedMs: "math.max(0, ending('askedUntil') - now)",
  pauses: "read('pauses')",
  refusals: "read('refusals')",
  remaining: "readRemaining() or -1",
  sinceMs: "math.max(0, now - read('since'))",
  limit: "tonumber(redis.call('HGET', known, 'limit')) or -1",
  ahead: "ahead or 0",
  distanceLeftMs: "math.ceil(distanceLeft())",
  calmMs: "pace and pace.calm or -1",
  width: "read('width')",
  widest: "read('widest')",
  distanceMs: "tostring(read('distance'))",
  passed: "read('passed')",
  keptMs: "read('keptUntil') - now",
  passedMs: "now - read('passedAt')",
  inFlight: "redis.call('ZCARD', slots)",
} as const;

type NumberName = keyof typeof NUMBERS;
type Numbers = Readonly<Record<NumberName, number>>;

/** The function with which a script replies. It takes the facts from the opening of the script. */
export const REPLY = `local function reply(outcome, ahead)
  local pace = readPace()
  return {
    outcome, ${Object.values(NUMBERS).join(",\n    ")}
  }
end
`;

/** Reads what a script returned. Throws `TypeError` for anything that no script returns. */
export function parseSlotReply(raw: unknown): SlotReply {
  const [first, ...others] = Array.isArray(raw) ? (raw as readonly unknown[]) : []; // it is an array
  const outcome = OUTCOMES.find((word) => word === first);
  const names = Object.keys(NUMBERS);
  const isWhole = others.length === names.length && !others.some((value) => Number.isNaN(Number(value)));
  if (outcome === undefined || !isWhole) throw new TypeError("not a reply");
  const numbers = Object.fromEntries(names.map((name, at) => [name, Number(others[at])])) as Numbers; // by their names
  const { redisNow, lastsMs, askedMs, pauses, refusals, ahead, distanceLeftMs, inFlight } = numbers;
  return {
    outcome,
    redisNow,
    pause: lastsMs > 0 ? { lastsMs, askedMs } : undefined,
    pauses,
    refusals,
    quota: parseQuota(numbers),
    ahead,
    distanceLeftMs,
    pace: parsePace(numbers),
    inFlight,
  };
}

function parseQuota({ limit, remaining, sinceMs }: Numbers): SlotReply["quota"] {
  if (limit < 0 && remaining < 0) return undefined;
  return {
    limit: limit < 0 ? undefined : limit,
    remaining: remaining < 0 ? undefined : remaining,
    readAt: now() - sinceMs,
  };
}

function parsePace({ calmMs, width, widest, distanceMs, passed, keptMs, passedMs }: Numbers): Pace {
  if (calmMs < 0) return UNPACED;
  const at = now();
  const moments = { keptUntil: at + keptMs, passedAt: at - passedMs, pausedAt: at - calmMs };
  return { width, widest: widest || Number.POSITIVE_INFINITY, distanceMs, passed, ...moments };
}

/** The arguments that tell a script of a pace, in the order of `REPORT`. */
export function describePace(pace: Pace): string[] {
  if (pace === UNPACED) return [];
  const { width, widest, distanceMs, passed, keptUntil, pausedAt } = pace;
  const at = now();
  const times = [keptUntil - at, at - pausedAt];
  return [width, Number.isFinite(widest) ? widest : 0, distanceMs, passed, ...times].map(String);
}
