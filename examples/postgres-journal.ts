import { randomUUID } from "node:crypto";
import type { Pool } from "pg";
import { type Journal, JournalError, type JournalRecord } from "project-automation/bulk";

export const TABLE = `CREATE TABLE IF NOT EXISTS bulk_records
  (journal text, key text, revision int, run text, record jsonb, PRIMARY KEY (journal, key, revision))`;

/** A journal in Postgres, for several processes: the primary key refuses the second of two runs that record one step. */
export function postgresJournal(pool: Pool, name: string): Journal {
  const run = randomUUID(); // two runs may record one step in the same words
  return {
    async load() {
      const select = "SELECT record FROM bulk_records WHERE journal = $1 ORDER BY revision";
      const { rows } = await pool.query<{ record: JournalRecord }>(select, [name]);
      return rows.map(({ record }) => record);
    },
    async append(records) {
      const values = [name, run, JSON.stringify(records)];
      const insert = `INSERT INTO bulk_records
        SELECT $1, record->>'key', (record->>'revision')::int, $2, record FROM jsonb_array_elements($3) AS record`;
      const add = () => pool.query(insert, values);
      await add()
        .catch(add) // a reply may be lost
        .catch(async (cause: { code?: string }) => {
          if (cause.code !== "23505") throw cause; // unique_violation
          const select = `SELECT FROM bulk_records WHERE journal = $1 AND run = $2
            AND record IN (SELECT jsonb_array_elements($3))`;
          if ((await pool.query(select, values)).rowCount === records.length) return;
          throw new JournalError(`another run uses the journal ${name}`, { reason: "in_use", cause });
        });
    },
  };
}
