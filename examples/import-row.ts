/** The part of an import that is the same with each queue: the rows of the file, the run of one row, and its settling. */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import type { Client, ClientOptions, Issue } from "project-automation";
import { type BulkEntry, type BulkOptions, bulkWrite, type Journal, type JournalRecord } from "project-automation/bulk";
import { parseCsv } from "./csv.ts";

/** `key` is of the import, the project and the id: no other row has it, and this row has it in every run. */
export type Row = Readonly<Record<"key" | "project" | "title" | "type", string>>;

/** The end of a row. `isOutage`: the next row would fail in the same way. */
export type RowEnd = Pick<BulkEntry<Row, Issue>, "state" | "reference"> & { message: string; isOutage: boolean };

/** Failures that say nothing about the next row: of the project, of the job, of the journal. */
const OF_ONE_ROW: readonly string[] = ["not_found", "permission", "abort", "journal"];

/** Creates the issue of a row, unless an earlier job of this row did so, or may have. */
export async function importRow(
  client: Client,
  row: Row,
  options: Pick<BulkOptions<Row, Issue>, "journal" | "signal">,
): Promise<RowEnd> {
  const run = bulkWrite({
    ...options,
    client,
    items: [row],
    key: ({ key }) => key,
    send: (client, { project, title, type }) => client.issues.create(project, { title, type }),
    reference: ({ number }) => number,
    stopAfter: 1, // the queue tries again
  });
  let end: RowEnd = { state: "not_sent", reference: undefined, message: "", isOutage: false };
  try {
    for await (const { state, reference, reason } of run) {
      const isOutage = run.stoppedBy !== undefined && !OF_ONE_ROW.includes(run.stoppedBy.kind);
      end = { state, reference, message: `${state}: ${reason?.message}`, isOutage };
    }
  } catch (error) {
    end.message ||= String(error); // the run has not begun
  }
  return end;
}

/** Answers of a person who has looked for rows whose outcome is unknown, by key. */
export type Answers = ReadonlyMap<string, "done" | "not_sent">;

/** Records the answers about failed rows. Returns the jobs that a worker can go on with, and prints the other rows. */
export async function settleJobs<FailedJob extends { readonly data: Row }>(
  jobs: readonly FailedJob[],
  journalOf: (row: Row) => Journal,
  answers: Answers,
): Promise<FailedJob[]> {
  const ready: FailedJob[] = [];
  for (const [index, job] of jobs.entries()) {
    const { key, title } = job.data;
    const state = await settle(key, journalOf(job.data), answers.get(key));
    if (state === "refused" || state === "unknown") console.log(`${state}: ${key} (${title})`);
    else ready.push(job);
    if (index % 100 === 99) console.log(`${index + 1} of ${jobs.length} failed rows`);
  }
  console.log(`${ready.length} of ${jobs.length} failed rows go back to the queue`);
  return ready;
}

async function settle(key: string, journal: Journal, answer: "done" | "not_sent" | undefined): Promise<string> {
  let last: JournalRecord | undefined;
  for await (const record of await journal.load()) last = record;
  if (last?.state !== "sending" && last?.state !== "unknown") return last?.state ?? "not_sent";
  if (answer === undefined) return "unknown";
  const { service, revision = 0 } = last;
  const at = new Date().toISOString();
  await journal.append([{ key, state: answer, at, service, revision: revision + 1 }]);
  return answer;
}

/** Of a client whose token is in the file `TOKEN_FILE`, such as a mounted secret: another job may rotate it. */
export function tokenOptions(): Pick<ClientOptions, "token"> {
  const file = process.env["TOKEN_FILE"];
  if (file === undefined) return {}; // the client reads PROJECT_AUTOMATION_TOKEN
  let held = ""; // also of a file that is being replaced
  return {
    token: async ({ rejected }) => {
      if (held === "" || held === rejected) held = (await readFile(file, "utf8")).trim();
      return held;
    },
  };
}

/** Runs the command that the program was started with. A failure is a message, and exit code 1. */
export async function runCommand(commands: {
  readonly add: (rows: readonly Row[]) => Promise<void>;
  readonly work: () => Promise<void>;
  readonly report: () => Promise<void>;
  readonly settle: (answers: Answers) => Promise<void>;
}): Promise<void> {
  const keys = { type: "string", multiple: true, default: [] as string[] } as const;
  try {
    const options = { applied: keys, "not-applied": keys };
    const { values, positionals } = parseArgs({ allowPositionals: true, options });
    const [command, name, file] = positionals;
    const applied = values.applied.map((key) => [key, "done"] as const);
    const notApplied = values["not-applied"].map((key) => [key, "not_sent"] as const);
    if (command === "add" && name && file) await commands.add(readRows(name, file));
    else if (command === "work") await commands.work();
    else if (command === "report") await commands.report();
    else if (command === "settle") await commands.settle(new Map([...applied, ...notApplied]));
    else throw new Error("usage: add NAME FILE | work | report | settle [--applied KEY]... [--not-applied KEY]...");
  } catch (error) {
    console.error(String(error));
    process.exitCode = 1;
  }
}

/** Resolves when the worker has to end. */
export async function untilStopped(): Promise<void> {
  console.log("working; Ctrl-C ends it after its present jobs");
  await new Promise<void>((stop) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop());
  });
}

/** CSV with the columns id, project, title and type. `name` is that of the import, such as a date. */
function readRows(name: string, file: string): Row[] {
  const text = readFileSync(file, "utf8").replace(/^\uFEFF/, "");
  const keys = new Set<string>();
  return parseCsv(text.trim()).map(({ id, project, title, type }, index) => {
    if (!id || !project || !title || !type) throw new Error(`row ${index + 1} needs id, project, title and type`);
    const key = [name, project, id].map(encodeURIComponent).join("/");
    if (keys.has(key)) throw new Error(`row ${index + 1} has the id of another row of ${project}: ${id}`);
    keys.add(key);
    return { key, project, title, type };
  });
}
