/** Rows that become issues, and what came of them. */
import { type BulkCounts, type BulkEntry, BulkError, type BulkRun } from "../../src/bulk/index.ts";
import { type ApiPromise, Client, type ClientOptions, type FetchFunction, type Issue } from "../../src/client/index.ts";
import { createEmulator, type Emulator } from "../../src/testing/index.ts";

export interface Row {
  readonly id: string;
  readonly title: string;
}

export function rowsOf(count: number): Row[] {
  return Array.from({ length: count }, (_, index) => ({ id: `row-${index + 1}`, title: `Issue ${index + 1}` }));
}

export const key = ({ id }: Row): string => id;

/** A `send` that is as it should be. */
export const send = (client: Client, { title }: Row): ApiPromise<Issue> =>
  client.issues.create("web", { title, type: "bug" });

/** The service in this process, with one project, and a client of it whose items are all that the service sees of a run. */
export function service(options: ClientOptions = {}): { readonly emulator: Emulator; readonly client: Client } {
  const emulator = createEmulator({ projects: [{ name: "web" }], rateLimit: false });
  return { emulator, client: clientOf(emulator, options) };
}

export function clientOf({ baseUrl, token, fetch }: Emulator, options: ClientOptions = {}): Client {
  return new Client({ baseUrl, token, fetch: answering(fetch), retry: { minDelayMs: 1, maxDelayMs: 1 }, ...options });
}

/** Answers the read of a run before it reaches the service: faults, and the log of requests, are those of items. */
export function answering(fetch: FetchFunction): FetchFunction {
  return async (url, init) =>
    isReadOfRun(url, init) ? Response.json({ data: [], next_cursor: null }) : fetch(url, init);
}

function isReadOfRun(url: string, { method }: { readonly method: string }): boolean {
  return method === "GET" && String(url).endsWith("/projects?limit=1");
}

/** Faults that meet one row only. */
export function titled(title: string): { readonly match: (request: { readonly body: unknown }) => boolean } {
  return { match: ({ body }) => (body as { title?: string } | undefined)?.title === title }; // reads have none
}

/** How many issues there are of each title. */
export function issueCounts({ issues }: Emulator): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { title } of issues.list("web")) counts[title] = (counts[title] ?? 0) + 1;
  return counts;
}

export interface Ended {
  /** The states of the keys, in the order in which they ended. */
  readonly states: Record<string, string>;
  readonly entries: readonly BulkEntry<Row, unknown>[];
  /** The error of a run that did what it could: items are left. */
  readonly left: BulkError | undefined;
  /** Any other error that the iteration rejected with. */
  readonly error: unknown;
}

/** Iterates a run to its end. Fails if a key ends twice. */
export async function runToEnd(run: BulkRun<Row, unknown> | (() => BulkRun<Row, unknown>)): Promise<Ended> {
  const entries: BulkEntry<Row, unknown>[] = [];
  const states: Record<string, string> = {};
  let error: unknown;
  try {
    for await (const entry of typeof run === "function" ? run() : run) {
      if (entry.key in states) throw new Error(`${entry.key} has ended twice`);
      states[entry.key] = entry.state;
      entries.push(entry);
    }
  } catch (thrown) {
    error = thrown;
  }
  const left = error instanceof BulkError ? error : undefined;
  return { states, entries, left, error: left === undefined ? error : undefined };
}

/** The counts at the end of a run, whether or not items are left. Rejects if the run could not work. */
export async function countsOf(run: BulkRun<Row, unknown>): Promise<BulkCounts> {
  const { error } = await runToEnd(run);
  if (error !== undefined) throw error;
  return run.summary;
}
