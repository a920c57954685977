/**
 * A fleet: 4 processes on one token, 75 calls each at once against a limit of 50 requests per 2 s, over loopback; sharing
 * the limit through Redis, and each for itself. Then how evenly the processes share a constant remainder of 0, 1 and 2.
 *
 * Usage: node fleet/index.ts
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import { Redis } from "ioredis";
import { RATE_LIMIT, type ServerReport, type Service } from "../rate-limit/experiment.ts";
import { score } from "../rate-limit/score.ts";
import { Part } from "../support/part.ts";
import { table, writeResults } from "../support/report.ts";
import { versionsOf } from "../support/versions.ts";
import { CALLS_EACH, type MemberReport, PROCESSES, type Ready, type Task } from "./experiment.ts";
import { measureShares } from "./shares.ts";

const TIME_LIMIT_MS = 120_000;
const CALLS = PROCESSES * CALLS_EACH;
const IDEAL_MS = (Math.ceil(CALLS / RATE_LIMIT.limit) - 1) * RATE_LIMIT.windowMs;

interface Run {
  readonly fleet: string;
  readonly completed: number;
  readonly failed: number;
  readonly requests: number;
  readonly refused: number;
  readonly early: number;
  readonly redisCommands: number;
  readonly wallMs: number;
}

const { limit, windowMs } = RATE_LIMIT;
console.log(
  `${PROCESSES} processes, ${CALLS_EACH} calls each at once, ${limit} requests per ${windowMs / 1_000} s; ` +
    `ideal ${IDEAL_MS / 1_000} s; Node ${process.version}`,
);
const folder = mkdtempSync(join(tmpdir(), "project-automation-bench-"));
const socket = join(folder, "redis.sock");
const server = spawn("redis-server", ["--port", "0", "--unixsocket", socket, "--dir", folder, "--save", ""]);
try {
  for await (const line of createInterface(server.stdout)) if (line.includes("eady to accept connections")) break;
  server.stdout.resume();
  const runs = [await measure("sharing", socket), await measure("each for itself", undefined)];
  const heading = ["", "completed", "failed", "requests", "refused", "early", "redis commands", "wall"];
  const rows = runs.map((run) => [
    run.fleet,
    ...[run.completed, run.failed, run.requests, run.refused, run.early, run.redisCommands].map(String),
    `${(run.wallMs / 1_000).toFixed(2)} s`,
  ]);
  console.log(`\n${table(heading, rows)}`);
  console.log("\nrefused: answered 429. early: came while a Retry-After that the token had been given was running.");
  const shares = [];
  for (const remaining of [0, 1, 2]) shares.push(await measureShares(remaining, socket));
  const shareRows = shares.map(({ remaining, served, longestRun, requestsPerSecond }) => {
    return [String(remaining), served.join(" "), String(longestRun), requestsPerSecond.toFixed(1)];
  });
  console.log(`\n${table(["always left", "served per process", "longest run of one", "requests/s"], shareRows)}`);
  const figures = { processes: PROCESSES, callsEach: CALLS_EACH, rateLimit: RATE_LIMIT, idealMs: IDEAL_MS };
  const versions = versionsOf(["project-automation"]);
  console.log(`written: ${relative("", writeResults("fleet", { ...figures, versions, runs, shares }))}`);
} finally {
  const ended = once(server, "exit");
  server.kill();
  await ended;
  rmSync(folder, { recursive: true, force: true });
}

/** A fleet against a service that nobody used before. */
async function measure(fleet: string, redis: string | undefined): Promise<Run> {
  const parts = [new Part(new URL("../rate-limit/server.ts", import.meta.url), {})];
  try {
    const [service] = parts;
    if (service === undefined) throw new Error("there is no service");
    const where = await service.next<Service>(TIME_LIMIT_MS);
    const members = Array.from({ length: PROCESSES }, (_, index) => {
      const task: Task = { name: `p${index + 1}`, service: where, redis };
      return new Part(new URL("member.ts", import.meta.url), task);
    });
    parts.push(...members);
    await Promise.all(members.map((member) => member.next<Ready>(TIME_LIMIT_MS)));
    const before = await commands();
    const startedAt = performance.now();
    for (const member of members) member.tell("go");
    const reports = await Promise.all(members.map((member) => member.next<MemberReport>(TIME_LIMIT_MS)));
    const wallMs = performance.now() - startedAt;
    service.tell("report");
    const completed = reports.reduce((sum, report) => sum + report.completed, 0);
    const said = { completed, failed: CALLS - completed, wrong: 0, unfinished: 0, wallMs, errors: {}, issues: [] };
    const { failed, requests, refused, early } = score(said, await service.next<ServerReport>(TIME_LIMIT_MS));
    return { fleet, completed, failed, requests, refused, early, redisCommands: (await commands()) - before, wallMs };
  } finally {
    await Promise.all(parts.map((part) => part.stop()));
  }
}

/** What the fleet has asked of Redis, as Redis counts it. */
async function commands(): Promise<number> {
  const admin = new Redis(socket);
  const stats = await admin.info("commandstats");
  admin.disconnect();
  return Number(/cmdstat_eval:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}
