/**
 * Creates an issue for each row of a CSV file, with any number of processes on a queue of pg-boss: each row at most once, also
 * if a worker is killed, or stalls and goes on. The guide is docs/job-queues.md.
 *
 *   node examples/import-with-pg-boss.ts add 2026-11-24 rows.csv   # a job for each row of this import
 *   node examples/import-with-pg-boss.ts work                      # in several processes, on several machines
 *   node examples/import-with-pg-boss.ts report                    # the counts, and why jobs failed
 *   node examples/import-with-pg-boss.ts settle --applied KEY --not-applied KEY   # while no worker runs
 */
import { setTimeout } from "node:timers/promises";
import { Pool } from "pg";
import { type Job, type JobResult, PgBoss } from "pg-boss";
import { Client } from "project-automation";
import { type Answers, importRow, type Row, runCommand, settleJobs, tokenOptions, untilStopped } from "./import-row.ts";
import { postgresJournal, TABLE } from "./postgres-journal.ts";

const LOCK_SECONDS = Number(process.env["LOCK_SECONDS"] ?? 60); // a job that takes longer goes to another worker
const PAUSE_MS = Number(process.env["PAUSE_MS"] ?? 10_000); // of a worker in an outage; shorter than the lock
const ALL = { limit: 100_000 }; // pg-boss gives 1,000 by default

const connectionString = process.env["DATABASE_URL"] ?? "postgres://127.0.0.1/postgres";
const database = { connectionString, application_name: `import ${process.argv[2]}` };
const pool = new Pool({ ...database, connectionTimeoutMillis: 30_000, query_timeout: 30_000 });
pool.on("error", ({ message }) => console.error(message));
const boss = new PgBoss({ ...database, superviseIntervalSeconds: LOCK_SECONDS, monitorIntervalSeconds: LOCK_SECONDS });
boss.on("error", ({ message }) => console.error(message));
const client = new Client(tokenOptions());
const journalOf = ({ key }: Row) => postgresJournal(pool, key);

await boss.start();
await runCommand({ add, work, report, settle });
await boss.stop();
await pool.end();

async function add(rows: readonly Row[]): Promise<void> {
  await pool.query(TABLE);
  await boss.createQueue("import-failed", { retentionSeconds: 90 * 24 * 3600 });
  await boss.createQueue("import", {
    policy: "exclusive", // a row that is added twice is one job
    deadLetter: "import-failed",
    expireInSeconds: LOCK_SECONDS,
    retryLimit: 50,
    retryDelay: Math.ceil(PAUSE_MS / 1_000),
  });
  const jobs = rows.map((row) => ({ data: row, singletonKey: row.key }));
  await boss.insert("import", jobs);
  console.log(`${rows.length} rows`);
}

async function work(): Promise<void> {
  if ((await boss.getQueue("import")) === null) throw new Error("there is no queue yet: add rows first");
  const options = { batchSize: 5, perJobResults: true, burstWhenBatchFull: true, pollingIntervalSeconds: 1 } as const;
  await boss.work<Row, unknown, typeof options>("import", options, async (jobs) => {
    const ends = await Promise.all(jobs.map(importJob));
    // A worker takes no job before it has returned.
    if (ends.some(({ isOutage }) => isOutage)) await setTimeout(PAUSE_MS);
    return ends;
  });
  await untilStopped();
}

async function importJob({ id, data: row, signal }: Job<Row>): Promise<JobResult & { isOutage: boolean }> {
  const { state, reference, message, isOutage } = await importRow(client, row, { journal: journalOf(row), signal });
  if (state === "done") return { id, status: "completed", output: { reference }, isOutage };
  console.error(`${row.key}: ${message}`);
  return { id, status: state === "not_sent" ? "failed" : "deadletter", output: { message }, isOutage };
}

async function report(): Promise<void> {
  const failed = await boss.findJobs<Row>("import-failed", ALL);
  // A job that fails for good stays in its queue, as failed, and a copy of it is in the other one.
  const select = `SELECT state, count(DISTINCT singleton_key)::int FROM pgboss.job
    WHERE name = 'import' AND state <> 'failed' GROUP BY state`;
  const { rows } = await pool.query<{ state: string; count: number }>(select);
  const counts = Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  console.log(JSON.stringify({ ...counts, failed: failed.length }));
  for (const { data, sourceOutput } of failed)
    console.log(`${data.key} (${data.title}): ${JSON.stringify(sourceOutput)}`);
}

/** Tells the journals about rows whose outcome is unknown, and queues the jobs again that can be ended. */
async function settle(answers: Answers): Promise<void> {
  const { rows } = await pool.query("SELECT 1 FROM pg_stat_activity WHERE application_name = 'import work'");
  if (rows.length > 0) throw new Error("end all workers first: a stalled one may still send");
  const jobs = await settleJobs(await boss.findJobs<Row>("import-failed", ALL), journalOf, answers);
  if (jobs.length > 0) await boss.redrive("import-failed", { ...ALL, ids: jobs.map(({ id }) => id) });
}
