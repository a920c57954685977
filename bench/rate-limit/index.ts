/**
 * The herd: 300 calls at once against a limit of 50 requests per 2 s, with default settings, over loopback.
 *
 * Usage: node rate-limit/index.ts [--scenario get|post] [contender …]
 */

import { relative } from "node:path";
import { parseArgs } from "node:util";
import { Part } from "../support/part.ts";
import { table, writeResults } from "../support/report.ts";
import { versionsOf } from "../support/versions.ts";
import { type Contender, contenders } from "./contenders.ts";
import {
  CALLS,
  type ContenderReport,
  IDEAL_MS,
  RATE_LIMIT,
  SCENARIOS,
  type Scenario,
  type ServerReport,
  type Service,
  type Task,
  TIME_LIMIT_MS,
} from "./experiment.ts";
import { type Score, score } from "./score.ts";

/** What starting a process, and saying a last word, may take. */
const GRACE_MS = 15_000;

interface Run extends Score {
  readonly contender: string;
  readonly scenario: Scenario;
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { scenario: { type: "string" } } });
const scenarios = (Object.keys(SCENARIOS) as Scenario[]).filter((name) => name === (values.scenario ?? name));
const chosen = contenders.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
if (scenarios.length === 0 || chosen.length === 0) {
  const known = [...contenders.map(({ name }) => `"${name}"`), ...Object.keys(SCENARIOS)];
  console.error(`no such contender or scenario; known are ${known.join(", ")}`);
  process.exit(1);
}

const { limit, windowMs } = RATE_LIMIT;
console.log(
  `${CALLS} calls at once, ${limit} requests per ${windowMs / 1_000} s; ideal ${IDEAL_MS / 1_000} s; Node ${process.version}`,
);
const versions = versionsOf(chosen.flatMap(({ packages }) => packages));
console.log(
  Object.entries(versions)
    .map((entry) => entry.join(" "))
    .join(", "),
);

const runs: Run[] = [];
for (const scenario of scenarios) {
  console.log(`\n${SCENARIOS[scenario]}`);
  for (const contender of chosen) {
    process.stderr.write(`  ${contender.name} … `);
    const run = { contender: contender.name, scenario, ...(await measure(contender, scenario)) };
    process.stderr.write(`${seconds(run.wallMs)} s\n`);
    runs.push(run);
  }
  console.log(draw(runs.filter((run) => run.scenario === scenario)));
}
console.log(`
refused: answered 429. early: came while a Retry-After that the token had been given was running, by the server's log;
early again: of these, those that sent a call again whose own Retry-After was running. cut: stopped after ${TIME_LIMIT_MS / 1_000} s.`);

if (positionals.length === 0 && values.scenario === undefined) {
  const figures = {
    calls: CALLS,
    rateLimit: RATE_LIMIT,
    idealMs: IDEAL_MS,
    timeLimitMs: TIME_LIMIT_MS,
    versions,
    runs,
  };
  console.log(`written: ${relative("", writeResults("rate-limit", figures))}`);
}
if (runs.some(({ wrong }) => wrong > 0)) {
  console.error("some calls resolved with something else than what the service holds");
  process.exitCode = 1;
}

/** One contender against a service that nobody used before. */
async function measure({ name }: Contender, scenario: Scenario): Promise<Score> {
  const server = new Part(new URL("server.ts", import.meta.url), {});
  try {
    const service = await server.next<Service>(GRACE_MS);
    const task: Task = { contender: name, scenario, service };
    const report = await perform(task);
    server.tell("report");
    return score(report, await server.next<ServerReport>(GRACE_MS));
  } finally {
    await server.stop();
  }
}

/** The contender's process has ended when this resolves: nothing more reaches the server's log. */
async function perform(task: Task): Promise<ContenderReport> {
  const contender = new Part(new URL("contender.ts", import.meta.url), task);
  try {
    return await contender.next<ContenderReport>(TIME_LIMIT_MS + GRACE_MS);
  } finally {
    await contender.stop();
  }
}

function draw(shown: readonly Run[]): string {
  const withIssues = shown.some(({ scenario }) => scenario === "post");
  const heading = ["", "completed", "failed", "unfinished", "requests", "refused", "early", "early again"];
  const rows = shown.map((run) => [
    run.contender,
    ...[run.completed, run.failed, run.unfinished, run.requests, run.refused, run.early, run.earlyAgain].map(String),
    ...(withIssues ? [String(run.created), String(run.duplicates)] : []),
    run.unfinished > 0 ? "cut" : `${seconds(run.wallMs)} s`,
  ]);
  return table([...heading, ...(withIssues ? ["created", "duplicates"] : []), "wall"], rows);
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(2);
}
