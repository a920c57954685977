/**
 * Creates an issue for each row of a CSV file, with any number of processes on a queue of BullMQ: each row at most once, also
 * if a worker is killed, or stalls and goes on. The guide is docs/job-queues.md.
 *
 *   node examples/import-with-bullmq.ts add rows.csv     # a job for each row
 *   node examples/import-with-bullmq.ts work             # in several processes, on several machines
 *   node examples/import-with-bullmq.ts report           # the counts, and why jobs failed
 *   node examples/import-with-bullmq.ts settle --applied KEY --not-applied KEY   # while no worker runs
 */
import { parseArgs } from "node:util";
import { Queue, UnrecoverableError, Worker } from "bullmq";
import { Redis } from "ioredis";
import { Client } from "project-automation";
import { redisRateLimiter } from "project-automation/redis";
import { importRow, type Row, readRows, tokenOptions } from "./import-row.ts";
import { redisJournal } from "./redis-journal.ts";

const LOCK_MS = Number(process.env["LOCK_MS"] ?? 30_000); // a worker that is silent for so long loses its jobs
const PAUSE_MS = Number(process.env["PAUSE_MS"] ?? 10_000); // of the queue in an outage

const connection = new Redis(process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379", { maxRetriesPerRequest: null });
const redis = connection.duplicate({ maxRetriesPerRequest: 3, commandTimeout: 30_000 }); // of the journals and the limiter
const queue = new Queue<Row>("import", { connection });
const client = new Client({ ...tokenOptions(), rateLimiter: redisRateLimiter({ client: redis }) });
const journalOf = ({ id }: Row) => redisJournal(redis, `import:${id}`);

const keys = { type: "string", multiple: true, default: [] as string[] } as const;
const { values, positionals } = parseArgs({ allowPositionals: true, options: { applied: keys, "not-applied": keys } });
const [command, file = ""] = positionals;

if (command === "add") await add();
else if (command === "work") await work();
else if (command === "report") await report();
else if (command === "settle") await settle();
else fail("usage: node examples/import-with-bullmq.ts add FILE | work | report | settle");
await queue.close();
connection.disconnect();
redis.disconnect();

async function add(): Promise<void> {
  const retries = { attempts: 50, backoff: { type: "fixed", delay: PAUSE_MS } };
  const jobs = readRows(file).map((row) => {
    const jobId = `row-${encodeURIComponent(row.id)}`; // a row that is added twice is one job
    return { name: "row", data: row, opts: { ...retries, jobId } };
  });
  await queue.addBulk(jobs);
  console.log(`${jobs.length} rows`);
}

async function work(): Promise<void> {
  const worker = new Worker<Row>(
    queue.name,
    async ({ data: row }) => {
      const entry = await importRow(client, row, { journal: journalOf(row) });
      if (entry.state === "done") return entry.reference;
      if (entry.isOutage) await queue.rateLimit(PAUSE_MS); // no worker begins a job in that time
      const message = `${entry.state}: ${entry.reason?.message}`;
      throw entry.state === "not_sent" ? new Error(message) : new UnrecoverableError(message);
    },
    {
      connection,
      concurrency: 5,
      lockDuration: LOCK_MS,
      stalledInterval: LOCK_MS,
      maxStalledCount: 1_000, // the journal makes it safe to start a job again
      limiter: { max: 1_000_000, duration: 1_000 }, // without it, a worker does not heed rateLimit()
    },
  );
  worker.on("failed", (job, { message }) => console.error(`${job?.data.id}: ${message}`));
  worker.on("error", ({ message }) => console.error(message));
  console.log("working; Ctrl-C ends it after its present jobs");
  await new Promise<void>((stop) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop());
  });
  await worker.close();
}

async function report(): Promise<void> {
  console.log(JSON.stringify(await queue.getJobCounts("completed", "failed", "active", "waiting", "delayed")));
  for (const { data, failedReason } of await queue.getFailed())
    console.log(`${data.id} (${data.title}): ${failedReason}`);
}

/** Tells the journals about rows whose outcome is unknown, and queues all failed jobs again. */
async function settle(): Promise<void> {
  const workers = await queue.getWorkers();
  if (workers.length > 0) return fail(`end the ${workers.length} workers first: a stalled one may still send`);
  const [applied, notApplied] = [new Set(values.applied), new Set(values["not-applied"])];
  for (const { data: row } of await queue.getFailed()) {
    await importRow(client, row, {
      journal: journalOf(row),
      resolveUnknown: async ({ id }) =>
        applied.has(id) ? "applied" : notApplied.has(id) ? "not_applied" : "undecided",
    });
  }
  await queue.retryJobs({ state: "failed" });
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}
