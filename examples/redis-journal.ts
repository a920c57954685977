import { randomUUID } from "node:crypto";
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
  const run = randomUUID(); // two runs may record one step in the same words
  return {
    async load() {
      const stored = (await redis.hvals(hash)).map((text) => JSON.parse(text) as { record: JournalRecord });
      return stored.map(({ record }) => record).sort((one, other) => (one.revision ?? 0) - (other.revision ?? 0));
    },
    async append(records) {
      const fields = records.map(({ revision, key }) => `${revision} ${key}`);
      const texts = records.map((record) => JSON.stringify({ run, record }));
      const add = () => redis.eval(ADD, 1, hash, ...fields.flatMap((field, index) => [field, texts[index] ?? ""]));
      if ((await add().catch(add)) === "stored") return; // a reply may be lost
      if ((await redis.hmget(hash, ...fields)).every((text, index) => text === texts[index])) return;
      throw new JournalError(`another run uses the journal ${name}`, { reason: "in_use" });
    },
  };
}
