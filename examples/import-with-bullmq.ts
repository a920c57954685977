/**
 * Creates an issue for each row of a CSV file, with any number of processes on a queue of BullMQ: each row at most once, also
 * if a worker is killed, or stalls and goes on. The guide is docs/job-queues.md.
 *
 *   node examples/import-with-bullmq.ts add 2026-11-24 rows.csv   # a job for each row of this import
 *   node examples/import-with-bullmq.ts work                      # in several processes, on several machines
 *   node examples/import-with-bullmq.ts report                    # the counts, and why jobs failed
 *   node examples/import-with-bullmq.ts settle --applied KEY --not-applied KEY   # while no worker runs
 */
import { Queue, UnrecoverableError, Worker } from "bullmq";
import { Redis } from "ioredis";
import { Client } from "project-automation";
import { redisRateLimiter } from "project-automation/redis";
import { type Answers, importRow, type Row, runCommand, settleJobs, tokenOptions, untilStopped } from "./import-row.ts";
import { redisJournal } from "./redis-journal.ts";

const LOCK_MS = Number(process.env["LOCK_MS"] ?? 30_000); // a worker that is silent for so long loses its jobs
const PAUSE_MS = Number(process.env["PAUSE_MS"] ?? 10_000); // of the queue in an outage

const connection = new Redis(process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379", { maxRetriesPerRequest: null });
const redis = connection.duplicate({ maxRetriesPerRequest: 3, commandTimeout: 30_000 }); // of the journals and the limiter
const queue = new Queue<Row>("import", { connection });
const client = new Client({ ...tokenOptions(), rateLimiter: redisRateLimiter({ client: redis }) });
const journalOf = ({ key }: Row) => redisJournal(redis, key);

await runCommand({ add, work, report, settle });
await queue.close();
connection.disconnect();
redis.disconnect();

async function add(rows: readonly Row[]): Promise<void> {
  const retries = { attempts: 50, backoff: { type: "fixed", delay: PAUSE_MS } };
  // A row that is added twice is one job.
  await queue.addBulk(rows.map((row) => ({ name: "row", data: row, opts: { ...retries, jobId: row.key } })));
  console.log(`${rows.length} rows`);
}

async function work(): Promise<void> {
  const worker = new Worker<Row>(queue.name, importJob, {
    connection,
    concurrency: 5,
    lockDuration: LOCK_MS,
    stalledInterval: LOCK_MS,
    maxStalledCount: 1_000, // the journal makes it safe to start a job again
    limiter: { max: 1_000_000, duration: 1_000 }, // without it, a worker does not heed rateLimit()
  });
  worker.on("failed", (job, { message }) => console.error(`${job?.data.key}: ${message}`));
  worker.on("error", ({ message }) => console.error(message));
  await untilStopped();
  await worker.close();
}

async function importJob({ data: row }: { data: Row }): Promise<unknown> {
  const { state, reference, message, isOutage } = await importRow(client, row, { journal: journalOf(row) });
  if (state === "done") return reference;
  if (isOutage) await queue.rateLimit(PAUSE_MS); // no worker begins a job in that time
  throw state === "not_sent" ? new Error(message) : new UnrecoverableError(message);
}

async function report(): Promise<void> {
  console.log(JSON.stringify(await queue.getJobCounts("completed", "failed", "active", "waiting", "delayed")));
  for (const { data, failedReason } of await queue.getFailed())
    console.log(`${data.key} (${data.title}): ${failedReason}`);
}

/** Tells the journals about rows whose outcome is unknown, and queues the jobs again that can be ended. */
async function settle(answers: Answers): Promise<void> {
  const workers = await queue.getWorkers();
  if (workers.length > 0) throw new Error(`end the ${workers.length} workers first: a stalled one may still send`);
  const jobs = await settleJobs(await queue.getFailed(), journalOf, answers);
  for (const job of jobs) await job.retry("failed", { resetAttemptsMade: true });
}
