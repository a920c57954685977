/** The stores of the examples, watched; or none, as a control shows to be unsafe. */
import type { Redis } from "ioredis";
import type { Pool } from "pg";
import { type Journal, memoryJournal } from "project-automation/bulk";
import { postgresJournal as inPostgres } from "../../../../examples/postgres-journal.ts";
import { redisJournal as inRedis } from "../../../../examples/redis-journal.ts";
import { begin, end, reach, tell } from "./hook.ts";

export { TABLE } from "../../../../examples/postgres-journal.ts";

const hasStore = process.env["WITHOUT_STORE"] === undefined;

export function redisJournal(redis: Redis, name: string): Journal {
  return watched(hasStore ? inRedis(redis, name) : memoryJournal(), rowOf(name));
}

export function postgresJournal(pool: Pool, name: string): Journal {
  return watched(hasStore ? inPostgres(pool, name) : memoryJournal(), rowOf(name));
}

const rowOf = (name: string): string => name.replace(/^.*\//, "");

function watched(inner: Journal, row: string): Journal {
  return {
    load: () => inner.load(),
    async append(records) {
      const [first] = records; // a run of one row appends one at a time
      const isSent = first?.state === "sending";
      if (isSent && first.revision === 1) await reach("loaded", row);
      if (isSent) await begin(row);
      try {
        await inner.append(records);
      } catch (error) {
        if (isSent) end(row);
        tell({ type: "refused", row });
        throw error;
      }
      if (isSent) await reach("recorded", row);
      else end(row);
    },
  };
}
