import type { Redis } from "ioredis";
import { type Journal, JournalError, type JournalRecord } from "project-automation/bulk";

const ADD = `
  for field = 1, #ARGV, 2 do
    if redis.call("HEXISTS", KEYS[1], ARGV[field]) == 1 then return "taken" end
  end
  redis.call("HSET", KEYS[1], unpack(ARGV))
  return "stored"`;

/** A journal in a hash of Redis, for several processes: the script refuses the second of two runs that record one step. */
export function redisJournal(redis: Redis, name: string): Journal {
  const hash = `bulk-records:${name}`;
  return {
    async load() {
      const records = (await redis.hvals(hash)).map((text) => JSON.parse(text) as JournalRecord);
      return records.sort((one, other) => (one.revision ?? 0) - (other.revision ?? 0));
    },
    async append(records) {
      const fields = records.flatMap((record) => [`${record.revision} ${record.key}`, JSON.stringify(record)]);
      if ((await redis.eval(ADD, 1, hash, ...fields)) === "stored") return;
      throw new JournalError(`another run uses the journal ${name}`, { reason: "in_use" });
    },
  };
}
