/**
 * Creates an issue for each row of a CSV file, with any number of processes on a queue of pg-boss: each row at most once, also
 * if a worker is killed, or stalls and goes on. The guide is docs/job-queues.md.
 *
 *   node examples/import-with-pg-boss.ts add rows.csv     # a job for each row
 *   node examples/import-with-pg-boss.ts work             # in several processes, on several machines
 *   node examples/import-with-pg-boss.ts report           # the counts, and why jobs failed
 *   node examples/import-with-pg-boss.ts settle --applied KEY --not-applied KEY   # while no worker runs
 */
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Pool } from "pg";
import { type Job, type JobResult, PgBoss } from "pg-boss";
import { Client } from "project-automation";
import { importRow, type Row, readRows, tokenOptions } from "./import-row.ts";
import { postgresJournal, TABLE } from "./postgres-journal.ts";

const LOCK_SECONDS = Number(process.env["LOCK_SECONDS"] ?? 60); // a job that takes longer goes to another worker
const PAUSE_MS = Number(process.env["PAUSE_MS"] ?? 10_000); // of a worker in an outage; shorter than the lock
const ALL = { limit: 100_000 }; // pg-boss gives 1,000 by default

const keys = { type: "string", multiple: true, default: [] as string[] } as const;
const { values, positionals } = parseArgs({ allowPositionals: true, options: { applied: keys, "not-applied": keys } });
const [command = "", file = ""] = positionals;

const connectionString = process.env["DATABASE_URL"] ?? "postgres://127.0.0.1/postgres";
const database = { connectionString, application_name: `import ${command}` };
const pool = new Pool({ ...database, connectionTimeoutMillis: 30_000, query_timeout: 30_000 });
pool.on("error", ({ message }) => console.error(message));
const boss = new PgBoss({ ...database, superviseIntervalSeconds: LOCK_SECONDS, monitorIntervalSeconds: LOCK_SECONDS });
boss.on("error", ({ message }) => console.error(message));
const client = new Client(tokenOptions());
const journalOf = ({ id }: Row) => postgresJournal(pool, `import/${id}`);

await boss.start();
if (command === "add") await add();
else if (command === "work") await work();
else if (command === "report") await report();
else if (command === "settle") await settle();
else fail("usage: node examples/import-with-pg-boss.ts add FILE | work | report | settle");
await boss.stop();
await pool.end();

async function add(): Promise<void> {
  await pool.query(TABLE);
  await boss.createQueue("import-failed", { retentionSeconds: 90 * 24 * 3600 });
  await boss.createQueue("import", {
    policy: "exclusive", // a row that is added twice is one job
    deadLetter: "import-failed",
    expireInSeconds: LOCK_SECONDS,
    retryLimit: 50,
    retryDelay: Math.ceil(PAUSE_MS / 1_000),
  });
  const rows = readRows(file);
  await boss.insert(
    "import",
    rows.map((row) => ({ data: row, singletonKey: row.id })),
  );
  console.log(`${rows.length} rows`);
}

async function work(): Promise<void> {
  const options = { batchSize: 5, perJobResults: true, burstWhenBatchFull: true, pollingIntervalSeconds: 1 } as const;
  await boss.work<Row, unknown, typeof options>("import", options, async (jobs) => {
    const ends = await Promise.all(jobs.map(importJob));
    // A worker takes no job before it has returned.
    if (ends.some(({ isDown }) => isDown)) await setTimeout(PAUSE_MS);
    return ends.map(({ result }) => result);
  });
  console.log("working; Ctrl-C ends it after its present jobs");
  await new Promise<void>((stop) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop());
  });
}

async function importJob({ id, data: row, signal }: Job<Row>): Promise<{ result: JobResult; isDown: boolean }> {
  try {
    const entry = await importRow(client, row, { journal: journalOf(row), signal });
    const { state, reference, reason, isOutage } = entry;
    if (state === "done") return { result: { id, status: "completed", output: { reference } }, isDown: false };
    const output = { message: `${state}: ${reason?.message}` };
    console.error(`${row.id}: ${output.message}`);
    return { result: { id, status: state === "not_sent" ? "failed" : "deadletter", output }, isDown: isOutage };
  } catch (error) {
    const message = String(error); // of the journal
    console.error(`${row.id}: ${message}`);
    return { result: { id, status: "failed", output: { message } }, isDown: false };
  }
}

async function report(): Promise<void> {
  const failed = await boss.findJobs<Row>("import-failed", ALL);
  // A job that fails for good stays in its queue, as failed, and a copy of it is in the other one.
  const select =
    "SELECT state, count(*)::int FROM pgboss.job WHERE name = 'import' AND state <> 'failed' GROUP BY state";
  const { rows } = await pool.query<{ state: string; count: number }>(select);
  const counts = Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  console.log(JSON.stringify({ ...counts, failed: failed.length }));
  for (const { data, sourceOutput } of failed)
    console.log(`${data.id} (${data.title}): ${JSON.stringify(sourceOutput)}`);
}

/** Tells the journals about rows whose outcome is unknown, and queues all failed jobs again. */
async function settle(): Promise<void> {
  const select = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'import work'";
  const { rows } = await pool.query(select);
  if (rows.length > 0) return fail("end all workers first: a stalled one may still send");
  const [applied, notApplied] = [new Set(values.applied), new Set(values["not-applied"])];
  for (const { data: row } of await boss.findJobs<Row>("import-failed", ALL)) {
    await importRow(client, row, {
      journal: journalOf(row),
      resolveUnknown: async ({ id }) =>
        applied.has(id) ? "applied" : notApplied.has(id) ? "not_applied" : "undecided",
    });
  }
  await boss.redrive("import-failed", ALL);
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}
