/**
 * Bulk writes: 500 issues against a limit of 50 requests per 2 s, with a journal that is flushed to the disk; what a
 * journal costs for each item, where no limit holds the run up; and what 100 000 items take of memory and of the thread,
 * in a first run and in one that finds them done.
 *
 * Usage: node bulk/index.ts [--quick]; --quick leaves out what needs no limit
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { startEmulator } from "../../dist/testing/node.js";
import { Part } from "../support/part.ts";
import { table, writeResults } from "../support/report.ts";
import { versionsOf } from "../support/versions.ts";
import type { Report, Task } from "./import.ts";
import type { Report as ManyReport, Task as ManyTask } from "./many.ts";

const LIMIT = { limit: 50, windowMs: 2_000 };
const ITEMS = 500;
const IDEAL_MS = (Math.ceil(ITEMS / LIMIT.limit) - 1) * LIMIT.windowMs;
const TARGET = 1.1;
const UNLIMITED_ITEMS = 5_000;
const MANY_ITEMS = 100_000;
const TIME_LIMIT_MS = 120_000;

interface Row extends Report {
  readonly name: string;
  readonly items: number;
  readonly issues: number;
}

const folder = mkdtempSync(join(tmpdir(), "project-automation-bulk-"));
const path = join(folder, "journal");
try {
  const limited = { items: ITEMS, concurrency: 20, maxConcurrency: 10, path };
  const alone = await measure("limit, client alone", { ...limited, journal: "none" }, LIMIT);
  const paced = await measure("limit, file", { ...limited, journal: "file" }, LIMIT);
  const rows = [alone, paced];
  for (const concurrency of process.argv.includes("--quick") ? [] : [1, 10, 100]) {
    for (const journal of ["none", "memory", "file"] as const) {
      const task = {
        items: UNLIMITED_ITEMS,
        concurrency,
        maxConcurrency: concurrency,
        journal,
        path: `${path}-${concurrency}`,
      };
      rows.push(await measure(`${journal}, ${concurrency} at once`, task, false));
    }
  }
  const heading = ["journal", "items", "issues", "wall", "per item", "CPU per item", "items per flush"];
  console.log(table(heading, rows.map(cellsOf)));
  const ratio = paced.wallMs / IDEAL_MS;
  const isMet = ratio <= TARGET && paced.done === ITEMS && paced.issues === ITEMS;
  console.log(`\n${ITEMS} issues at ${LIMIT.limit} per ${LIMIT.windowMs} ms: ${ratio.toFixed(3)} x the ideal time`);
  console.log(
    `the client alone: ${(alone.wallMs / IDEAL_MS).toFixed(3)} x; a pause has whole seconds, and jitter is added`,
  );
  console.log(`target ${TARGET}: ${isMet ? "met" : "missed"}`);
  if (rows.some(({ done, items, issues }) => done !== items || issues !== items)) process.exitCode = 1;
  const many = [await measureMany(), await measureMany()];
  const manyHeading = [`${MANY_ITEMS} items`, "heap", "of it, keys", "longest block", "by the clock"];
  console.log(`\n${table(manyHeading, many.map(manyCellsOf))}`);
  if (many[1]?.skipped !== MANY_ITEMS) process.exitCode = 1;
  const versions = versionsOf(["project-automation"]);
  const figures = { rateLimit: LIMIT, idealMs: IDEAL_MS, ratio, versions, rows, many };
  console.log(`written: ${relative("", writeResults("bulk", figures))}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** One import into a service of its own. */
async function measure(name: string, task: Omit<Task, "service">, rateLimit: typeof LIMIT | false): Promise<Row> {
  const service = await startEmulator({ projects: 1, rateLimit });
  const { baseUrl, token } = service;
  const part = new Part(new URL("import.ts", import.meta.url), { ...task, service: { baseUrl, token } } satisfies Task);
  try {
    const report = await part.next<Report>(TIME_LIMIT_MS);
    return { name, items: task.items, issues: service.emulator.issues.list("project-1").length, ...report };
  } finally {
    await part.stop();
    await service.close();
  }
}

async function measureMany(): Promise<ManyReport> {
  const task: ManyTask = { items: MANY_ITEMS, path: `${path}-many` };
  const part = new Part(new URL("many.ts", import.meta.url), task, ["--expose-gc"]);
  try {
    return await part.next<ManyReport>(TIME_LIMIT_MS);
  } finally {
    await part.stop();
  }
}

function manyCellsOf({ skipped, heapBytes, keysBytes, longestCpuMs, longestWallMs }: ManyReport): string[] {
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
  const block = [longestCpuMs, longestWallMs].map((ms) => `${ms.toFixed(0)} ms`);
  return [skipped > 0 ? "done before" : "first run", megabytes(heapBytes), megabytes(keysBytes), ...block];
}

function cellsOf({ name, items, issues, wallMs, cpuMs, batches }: Row): string[] {
  const perItem = (ms: number): string => `${((ms / items) * 1_000).toFixed(0)} µs`;
  const perFlush = batches === 0 ? "-" : (items / batches).toFixed(1);
  return [name, `${items}`, `${issues}`, `${(wallMs / 1_000).toFixed(2)} s`, perItem(wallMs), perItem(cpuMs), perFlush];
}
