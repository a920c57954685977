/** What a Redis of a test replies. */
import { NUMBERS } from "../../src/redis/slot-reply.ts";

/** The reply of a script where nothing is known of the token. */
export function reply(outcome: string): unknown {
  const known = new Map<string, number>([
    ["redisNow", Date.now()],
    ...["remaining", "limit", "calmMs"].map((name): [string, number] => [name, -1]),
  ]);
  return [outcome, ...Object.keys(NUMBERS).map((name) => known.get(name) ?? 0)];
}
