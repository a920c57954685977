/**
 * Creates many issues from a file, some at once, and tells at the end what became of each: created, refused, not sent, or
 * unknown (it may have been applied, so check before sending again). Rate limits are waited out by the client. Every
 * outcome goes to `FILE.journal`, and a second run sends only what is certain not to have been applied.
 *
 * Run it, with PROJECT_AUTOMATION_BASE_URL and PROJECT_AUTOMATION_TOKEN set:
 *
 *   node examples/bulk-issues.ts issues.json
 *
 * The file is a JSON array, or NDJSON, of { "project": "web", "title": "Login page is blank", "type": "bug" }.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { Client, isAutomationError, type Outcome } from "project-automation";

type Item = Readonly<Record<"project" | "title" | "type", string>>;

/** `sending` is written before the request: without a later entry, the process ended in between. */
type State = "sending" | "created" | "refused" | "not_sent" | "unknown";
interface Entry extends Item {
  readonly state: State;
  readonly number?: number;
  readonly reason?: string;
}

const STATES: Readonly<Record<Outcome, State>> = {
  accepted: "created", // only its answer could not be read
  rejected: "refused",
  not_sent: "not_sent",
  unknown: "unknown",
};
const AT_ONCE = 8;
const file = process.argv[2] ?? "";
if (file === "") fail("usage: node examples/bulk-issues.ts FILE");
const journal = `${file}.journal`;
let isOver = false;
const stop = new AbortController();
process.once("SIGINT", () => {
  process.exitCode = 130;
  isOver = true;
  stop.abort();
});
const client = new Client({
  maxConcurrency: AT_ONCE,
  onEvent: (event) => {
    if (event.type === "rate_limit_pause") console.error(`rate limit: waiting ${Math.ceil(event.delayMs / 1000)} s`);
  },
});

const items = readItems();
const latest = readJournal();
const pending = items.filter((item) => isSafeToSend(latest.get(keyOf(item))?.state)).values();
await Promise.all(Array.from({ length: AT_ONCE }, work));
report();

/** Each worker takes the next item when it is done with the last. */
async function work(): Promise<void> {
  for (const item of pending) {
    if (isOver) return;
    record({ ...item, state: "sending" });
    record({ ...item, ...(await create(item)) });
  }
}

async function create({ project, title, type }: Item): Promise<Omit<Entry, keyof Item>> {
  try {
    const issue = await client.issues.create(project, { title, type }, { signal: stop.signal });
    return { state: "created", number: issue.number };
  } catch (error) {
    if (!isAutomationError(error)) throw error;
    if (error.kind === "auth") isOver = true; // the others would be refused as well
    return { state: STATES[error.outcome ?? "unknown"], reason: error.message };
  }
}

function isSafeToSend(state: State | undefined): boolean {
  return state === undefined || state === "refused" || state === "not_sent";
}

function report(): void {
  const entries = items.map((item): Entry => latest.get(keyOf(item)) ?? { ...item, state: "not_sent" });
  const of = (...states: State[]): Entry[] => entries.filter(({ state }) => states.includes(state));
  const tell = (title: string, list: readonly Entry[]): void => {
    console.log(`${title}: ${list.length}`);
    for (const { project, title: issue, reason } of list) {
      if (reason !== undefined) console.log(`  ${project}: ${JSON.stringify(issue)}: ${reason}`);
    }
  };
  const unknown = of("sending", "unknown").map((entry) => ({ reason: "the run was cut off", ...entry }));
  tell("created", of("created"));
  tell("refused (sent again by the next run)", of("refused"));
  tell("not sent (sent by the next run)", of("not_sent"));
  tell("unknown (may have been applied: check before sending again)", unknown);
  if (unknown.length > 0) console.log(`Once you know that one was not applied, delete its lines from ${journal}.`);
  process.exitCode ??= of("created").length < items.length ? 1 : 0;
}

/** On disk before anything else happens. The line break comes first, so that a line cut short spoils no other. */
function record(entry: Entry): void {
  appendFileSync(journal, `\n${JSON.stringify(entry)}`, { flush: true });
  latest.set(keyOf(entry), entry);
}

function readJournal(): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const line of existsSync(journal) ? readFileSync(journal, "utf8").split("\n") : []) {
    try {
      const entry = JSON.parse(line) as Entry; // written by `record`
      entries.set(keyOf(entry), entry);
    } catch {
      // Empty, or cut short when the process ended: what it was about is then still "sending", or was never sent.
    }
  }
  return entries;
}

function readItems(): Item[] {
  try {
    const text = readFileSync(file, "utf8").trim();
    const json = text.startsWith("[") ? text : `[${text.split(/\n+/).join(",")}]`;
    const rows = JSON.parse(json) as Item[]; // checked next
    for (const [index, { project, title, type }] of rows.entries()) {
      const isItem = [project, title, type].every((field) => typeof field === "string");
      if (!isItem) throw new Error(`item ${index + 1} needs project, title and type, as strings`);
    }
    if (new Set(rows.map(keyOf)).size < rows.length) throw new Error("some items are there twice");
    return rows;
  } catch (error) {
    return fail(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Tells items apart, also when lines are added to the file or moved. */
function keyOf({ project, title, type }: Item): string {
  return JSON.stringify([project, title, type]);
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
