/** The stores of the examples, watched; or, in place of one, what the controls of a test show to be unsafe. */
import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { Pool } from "pg";
import { type Journal, type JournalRecord, memoryJournal } from "project-automation/bulk";
import { postgresJournal as inPostgres } from "../../../../examples/postgres-journal.ts";
import { redisJournal as inRedis } from "../../../../examples/redis-journal.ts";
import { begin, end, reach, tell } from "./hook.ts";

export { TABLE } from "../../../../examples/postgres-journal.ts";

/** `none`: no journal at all. `last writer`: records in the data of the job, or in a row that is replaced. */
export type Control = "none" | "last writer";
const control = process.env["CONTROL"] as Control | undefined;

export function redisJournal(redis: Redis, name: string): Journal {
  const row = rowOf(name);
  if (control === "none") return watched(memoryJournal(), row);
  return watched(control === "last writer" ? inJobData(redis, name) : inRedis(redis, name), row);
}

export function postgresJournal(pool: Pool, name: string): Journal {
  const row = rowOf(name);
  if (control === "none") return watched(memoryJournal(), row);
  return watched(control === "last writer" ? inReplacedRow(pool, name) : inPostgres(pool, name), row);
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

/** `job.updateData`: the recipe that loses to a worker that stalls. */
function inJobData(connection: Redis, key: string): Journal {
  const queue = new Queue<{ readonly records?: readonly JournalRecord[] }>("import", { connection });
  const find = () => queue.getJob(key);
  return {
    load: async () => (await find())?.data.records ?? [],
    async append(records) {
      const job = await find();
      await job?.updateData({ ...job.data, records: [...(job.data.records ?? []), ...records] });
    },
  };
}

/** `ON CONFLICT DO UPDATE`: the last writer wins. */
function inReplacedRow(pool: Pool, name: string): Journal {
  return {
    async load() {
      const { rows } = await pool.query<{ record: JournalRecord }>("SELECT record FROM replaced WHERE journal = $1", [
        name,
      ]);
      return rows.map(({ record }) => record);
    },
    async append(records) {
      const replace =
        "INSERT INTO replaced VALUES ($1, $2) ON CONFLICT (journal) DO UPDATE SET record = excluded.record";
      await pool.query(replace, [name, JSON.stringify(records.at(-1))]);
    },
  };
}
