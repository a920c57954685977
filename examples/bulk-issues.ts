/**
 * Creates many issues from a file, each at most once. It can be stopped at any moment, by Ctrl-C, `kill -9` or a power
 * cut, and stops by itself in an outage: the same command goes on from `FILE.journal`, and sends only the issues that were
 * certainly not created. It ends with 0 only if every issue is created.
 *
 * Run it on a copy of `issues.csv`, with PROJECT_AUTOMATION_BASE_URL and PROJECT_AUTOMATION_TOKEN set:
 *
 *   node examples/bulk-issues.ts issues.csv
 *
 * The file is CSV with the columns project, title, type and perhaps id; or a JSON array, or NDJSON, of such objects. An
 * issue without an id is identified by its project, title and type. The journal is that of one service: to import at
 * another one, such as production after staging, name a copy of the file.
 *
 * Of some issues it is not known whether they were created: their response was lost. Look for them, and then say
 * `--applied KEY` or `--not-applied KEY` for each.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { Client, isAutomationError } from "project-automation";
import { type BulkEntry, bulkWrite } from "project-automation/bulk";
import { fileJournal } from "project-automation/bulk/node";
import { parseCsv } from "./csv.ts";

type Row = Readonly<Record<"project" | "title" | "type", string>> & { readonly id?: string };

const USAGE = "usage: node examples/bulk-issues.ts FILE [--applied KEY]... [--not-applied KEY]...";
const { file, applied, notApplied } = readArguments();
const rows = readRows();
const keyOf = ({ id, project, title, type }: Row): string => id || JSON.stringify([project, title, type]);
const keys = new Set(rows.map(keyOf));
for (const key of [...applied, ...notApplied]) if (!keys.has(key)) fail(`${file}: no issue has the key ${key}`);
const stop = new AbortController();
process.once("SIGINT", () => stop.abort()); // once: a second Ctrl-C ends the process at once

const run = bulkWrite({
  client: new Client({ onEvent: (event) => event.type === "rate_limit_pause" && showProgress() }),
  items: rows,
  key: keyOf,
  send: (client, { project, title, type }) => client.issues.create(project, { title, type }),
  journal: fileJournal(`${file}.journal`),
  concurrency: 8,
  reference: (issue) => issue.number,
  resolveUnknown: async (_, { key }) =>
    applied.has(key) ? "applied" : notApplied.has(key) ? "not_applied" : "undecided",
  signal: stop.signal,
});

let created = 0; // in this run
const unfinished: BulkEntry<Row, unknown>[] = [];
const ticking = setInterval(showProgress, process.stderr.isTTY ? 200 : 10_000);
let end: string;
try {
  for await (const entry of run) {
    if (entry.state !== "done") unfinished.push(entry);
    else if (!entry.skipped && !applied.has(entry.key)) created += 1;
  }
  const { done, skipped } = run.summary;
  end = done > 0 && done === skipped ? `all ${done} were done by earlier runs` : "finished";
} catch (error) {
  if (!isAutomationError(error)) throw error;
  process.exitCode = error.kind !== "bulk" ? 2 : stop.signal.aborted ? 130 : 1;
  end = error.message;
} finally {
  clearInterval(ticking);
}
showProgress();
report();
console.log(end);

/** One line that is written again and again on a terminal. */
function showProgress(): void {
  const { done, refused, resolving, total = 0, ratePerSecond, etaMs = 0, pausedUntil } = run.progress;
  const pauseMs = (pausedUntil?.getTime() ?? 0) - Date.now();
  const pause = pauseMs > 0 ? `, rate limit: waiting ${Math.ceil(pauseMs / 1_000)} s` : "";
  const asked = resolving > 0 ? `, ${resolving} being looked for` : "";
  const left = etaMs > 0 ? `, ${Math.ceil(etaMs / 1_000)} s left` : "";
  const line = `${done} of ${total}, ${refused} refused, ${ratePerSecond.toFixed(1)}/s${asked}${left}${pause}`;
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${line}` : `${line}\n`);
}

function report(): void {
  const { summary } = run;
  const list = (title: string, state: string): void => {
    const entries = unfinished.filter((entry) => entry.state === state);
    console.log(`${title}: ${entries.length}`);
    for (const { key, reason } of entries) {
      console.log(`  ${key}: ${[reason?.kind, reason?.status].filter(Boolean).join(" ")}: ${reason?.message}`);
    }
  };
  if (process.stderr.isTTY) process.stderr.write("\n");
  console.log(`created in this run: ${created}`);
  console.log(`created in all: ${summary.done}`);
  list("refused (correct them; the same command sends them again)", "refused");
  console.log(`not sent (the same command sends them): ${summary.not_sent}`);
  list("unknown (look for them; then --applied KEY or --not-applied KEY)", "unknown");
}

function readArguments(): { file: string; applied: Set<string>; notApplied: Set<string> } {
  const keys = { type: "string", multiple: true } as const;
  try {
    const options = { applied: keys, "not-applied": keys };
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const [path] = positionals;
    if (path === undefined || positionals.length > 1) throw new Error("one FILE is needed");
    return { file: path, applied: new Set(values.applied), notApplied: new Set(values["not-applied"]) };
  } catch (error) {
    return fail(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
  }
}

function readRows(): Row[] {
  try {
    const text = readFileSync(file, "utf8")
      .replace(/^\uFEFF/, "")
      .trim();
    const read = /^[[{]/.test(text) ? parseJson(text) : (parseCsv(text) as Row[]); // checked below
    for (const [index, { project, title, type, id = "" }] of read.entries()) {
      const isRow = [project, title, type, id].every((field) => typeof field === "string");
      if (!isRow) throw new Error(`item ${index + 1} needs project, title and type, as strings`);
    }
    return read;
  } catch (error) {
    return fail(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** An array, or an object on each line. The rows are checked by the caller. */
function parseJson(text: string): Row[] {
  return JSON.parse(text.startsWith("[") ? text : `[${text.split(/\n+/).join(",")}]`) as Row[];
}

function fail(problem: unknown): never {
  console.error(problem instanceof Error ? problem.message : problem);
  process.exit(2);
}
