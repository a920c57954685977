import { now } from "../clock.ts";
import type { News } from "../rate-limit/news.ts";

/** What became of asking: a slot; the pause runs; others hold what there is; or the question came too late to count. */
export type Verdict = "granted" | "paused" | "full" | "late" | "done";

/** What every script gives. */
export interface Reply {
  readonly redisNow: number;
  readonly verdict: Verdict;
  readonly news: News;
  /** How many more may go, as far as is known. */
  readonly room: number;
}

const VERDICTS: readonly unknown[] = ["granted", "paused", "full", "late", "done"] satisfies Verdict[];

/** Reads what a script gave; throws for what no script gives. */
export function readReply(raw: unknown): Reply {
  if (!Array.isArray(raw)) throw new TypeError("not a reply");
  const [redisNow = Number.NaN, , lastsMs = 0, askedMs = 0, pauses = 0, refusals = 0, ...more] = raw.map(Number);
  const [streak = 0, mustProbe = 0, remaining = -1, sinceMs = 0, heardMs = 0, limit = -1, room = -1] = more;
  const verdict = String(raw[1]);
  if (!isVerdict(verdict) || Number.isNaN(redisNow)) throw new TypeError("not a reply");
  const said = remaining < 0 ? undefined : { remaining, since: now() - sinceMs, heardAt: now() - heardMs };
  return {
    redisNow,
    verdict,
    room: room < 0 ? Number.POSITIVE_INFINITY : room,
    news: {
      pause: lastsMs > 0 ? { lastsMs, askedMs } : undefined,
      pauses,
      refusals,
      streak,
      mustProbe: mustProbe === 1,
      said,
      limit: limit < 0 ? undefined : limit,
    },
  };
}

function isVerdict(word: string): word is Verdict {
  return VERDICTS.includes(word);
}
