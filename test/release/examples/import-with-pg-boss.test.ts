/** The import on pg-boss, by three processes that are killed and stopped, with a real Postgres. */
import pg from "pg";
import { describe, expect, test } from "vitest";
import { PostgresServer, SKIPS_POSTGRES } from "../../support/postgres-server.ts";
import { CASES } from "./queues/cases.ts";
import { keyOf, type QueueOfTest } from "./queues/fleet.ts";
import { duplicatesOf, importUnderFire } from "./queues/trial.ts";

interface Jobs extends QueueOfTest, AsyncDisposable {}

async function start(): Promise<Jobs> {
  const server = await PostgresServer.start();
  const pool = new pg.Pool({ connectionString: server.url });
  const count = `SELECT count(DISTINCT data->>'key') FILTER (WHERE name = 'import' AND state = 'completed')::int AS done,
      count(*) FILTER (WHERE name = 'import-failed')::int AS failed,
      count(*) FILTER (WHERE name = 'import' AND state < 'completed')::int AS open
    FROM pgboss.job WHERE name IN ('import', 'import-failed')`;
  const states = "SELECT state::text FROM pgboss.job WHERE name = 'import' AND data->>'key' = $1";
  return {
    example: "import-with-pg-boss.ts",
    env: { DATABASE_URL: server.url, LOCK_SECONDS: "3", PAUSE_MS: "500" },
    counts: async () => {
      const { rows } = await pool.query<{ done: number; failed: number; open: number }>(count);
      return rows[0] ?? { done: 0, failed: 0, open: 0 };
    },
    endOf: async (row) => {
      const { rows } = await pool.query<{ state: string }>(states, [keyOf(row)]);
      if (rows.some(({ state }) => state === "completed")) return "done";
      return rows.some(({ state }) => state === "failed") ? "failed" : undefined;
    },
    [Symbol.asyncDispose]: async () => {
      await pool.end();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe.skipIf(SKIPS_POSTGRES)("the import on pg-boss", () => {
  test("of 2,000 rows through 30 kills, 10 stops, lost responses, an outage and a rotation: none twice, none lost", async () => {
    await using queue = await start();
    const { kills, killsOfRequests, stops, stopsOfRequests } = await importUnderFire(queue);
    expect([kills, stops]).toEqual([30, 10]);
    expect(killsOfRequests, "killed with a request on its way").toBeGreaterThanOrEqual(20);
    expect(stopsOfRequests, "stopped between the record and the request").toBeGreaterThanOrEqual(5);
  });

  test.each(Object.entries(CASES))("%s", async (_, happens) => {
    await using queue = await start();
    await happens(queue);
  });

  test("without a journal creates rows twice when workers are killed", async () => {
    await using queue = await start();
    expect(await duplicatesOf(queue)).toBeGreaterThan(0);
  });
});
