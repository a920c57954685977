/**
 * Exports every project to a file, one line of JSON each (NDJSON). It can be stopped at any moment, by Ctrl-C, `kill -9`
 * or a power cut: the same command goes on from `FILE.checkpoint`, without loss and without a line twice. That file is
 * there as long as the export is not whole. While the rate limit pauses, it shows for how long.
 *
 * Run it, with PROJECT_AUTOMATION_BASE_URL and PROJECT_AUTOMATION_TOKEN set:
 *
 *   node examples/export-projects.ts projects.ndjson
 */
import { existsSync } from "node:fs";
import { open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { Client, type ClientEvent, isAutomationError } from "project-automation";

/** How far the export has come: what is in the file up to `bytes` is safe, and `cursor` leads to the rest. */
interface Checkpoint {
  cursor: string | null;
  bytes: number;
  pages: number;
  items: number;
}

const file = process.argv[2] ?? "";
if (file === "") {
  console.error("usage: node examples/export-projects.ts FILE");
  process.exit(2);
}
const checkpointFile = `${file}.checkpoint`;
const stop = new AbortController();
process.once("SIGINT", () => stop.abort()); // once: a second Ctrl-C ends the process at once

let progress: Checkpoint = { cursor: null, bytes: 0, pages: 0, items: 0 };
let resumesAt: number | undefined;
let waitedMs = 0;
let countdown: NodeJS.Timeout | undefined;
try {
  await exportProjects(new Client({ onEvent: follow }));
  say(`done: ${progress.items} projects in ${file}${waitedMs < 500 ? "" : `, after ${seconds(waitedMs)} of waiting`}`);
} catch (error) {
  if (isAutomationError(error) && error.kind === "abort") {
    say(`stopped after ${progress.items} projects; the same command goes on from here`);
    process.exitCode = 130;
  } else {
    say(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}

async function exportProjects(client: Client): Promise<void> {
  progress = await begin();
  const data = await open(file, "a");
  try {
    if ((await data.stat()).size < progress.bytes) {
      throw new Error(`${file} is shorter than its checkpoint says; delete both to begin anew`);
    }
    await data.truncate(progress.bytes); // what was written after the checkpoint comes again
    const cursor = progress.cursor ?? undefined;
    for await (const page of client.projects.list({ limit: 200, cursor }, { signal: stop.signal }).pages()) {
      const lines = page.data.map((project) => `${JSON.stringify(project)}\n`).join("");
      await data.appendFile(lines);
      await data.sync(); // first the data, then the checkpoint that vouches for it
      progress = {
        cursor: page.next_cursor,
        bytes: progress.bytes + Buffer.byteLength(lines),
        pages: progress.pages + 1,
        items: progress.items + page.data.length,
      };
      show();
      if (page.next_cursor !== null) await save(progress);
    }
    await rm(checkpointFile);
  } finally {
    await data.close();
  }
}

/** Where an earlier run got to. A new export has a checkpoint before it has data: a file without one is whole. */
async function begin(): Promise<Checkpoint> {
  if (existsSync(checkpointFile)) return JSON.parse(await readFile(checkpointFile, "utf8")) as Checkpoint; // ours
  if (existsSync(file)) throw new Error(`${file} is there already, and whole; name another file`);
  await save(progress);
  return progress;
}

/** Replaces the checkpoint in one step, so that there is always a whole one. */
async function save(checkpoint: Checkpoint): Promise<void> {
  await writeFile(`${checkpointFile}.new`, JSON.stringify(checkpoint), { flush: true });
  await rename(`${checkpointFile}.new`, checkpointFile);
}

function follow(event: ClientEvent): void {
  if (event.type === "page") waitedMs = event.waitedMs;
  if (event.type !== "rate_limit_pause" && event.type !== "rate_limit_resume") return;
  clearInterval(countdown);
  resumesAt = event.type === "rate_limit_pause" ? Date.now() + event.delayMs : undefined;
  if (resumesAt === undefined) return;
  show();
  if (process.stderr.isTTY) countdown = setInterval(show, 200).unref();
}

/** On a terminal one line, drawn over and over; elsewhere a line for each page and each pause. */
function show(): void {
  const soFar = `${progress.items} projects, ${progress.pages} ${progress.pages === 1 ? "page" : "pages"}`;
  const leftMs = resumesAt === undefined ? 0 : resumesAt - Date.now();
  const line = leftMs > 0 ? `${soFar}; rate limit: going on in ${seconds(leftMs)}` : soFar;
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line.slice(0, (process.stderr.columns || 80) - 1)}`);
  else console.error(line);
}

/** The last word, in place of the progress. */
function say(text: string): void {
  clearInterval(countdown);
  console.error(process.stderr.isTTY ? `\r\x1b[K${text}` : text);
}

function seconds(ms: number): string {
  return `${Math.ceil(ms / 1_000)} s`;
}
