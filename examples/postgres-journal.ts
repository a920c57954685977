import type { Pool } from "pg";
import { type Journal, JournalError, type JournalRecord } from "project-automation/bulk";

export const TABLE = `CREATE TABLE IF NOT EXISTS bulk_records
  (journal text, key text, revision int, record jsonb NOT NULL, PRIMARY KEY (journal, key, revision))`;

/** A journal in Postgres, for several processes: the primary key refuses the second of two runs that record one step. */
export function postgresJournal(pool: Pool, name: string): Journal {
  return {
    async load() {
      const select = "SELECT record FROM bulk_records WHERE journal = $1 ORDER BY revision";
      const { rows } = await pool.query<{ record: JournalRecord }>(select, [name]);
      return rows.map(({ record }) => record);
    },
    async append(records) {
      const insert = `INSERT INTO bulk_records
        SELECT $1, record->>'key', (record->>'revision')::int, record FROM jsonb_array_elements($2) AS record`;
      await pool.query(insert, [name, JSON.stringify(records)]).catch((cause: { code?: string }) => {
        if (cause.code !== "23505") throw cause; // unique_violation
        throw new JournalError(`another run uses the journal ${name}`, { reason: "in_use", cause });
      });
    },
  };
}
