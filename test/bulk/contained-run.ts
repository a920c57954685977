/**
 * A run in a process of its own, which begins when its input ends and prints its end. Its task is its first argument, as JSON.
 */
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { text } from "node:stream/consumers";
import { bulkWrite, type JournalError } from "../../src/bulk/index.ts";
import { fileJournal } from "../../src/bulk/node.ts";
import { Client } from "../../src/client/index.ts";
import { key, rowsOf, runToEnd, send } from "./rows.ts";

export interface ContainedTask {
  readonly baseUrl: string;
  readonly token: string;
  readonly path: string;
  readonly rows: number;
  /** Sees no lock file, as if the journal's folder were not that of the other run. */
  readonly seesNoLock: boolean;
}

export interface ContainedEnd {
  /** `"done"`: it ended. Otherwise the reason of its `JournalError`. */
  readonly end: string;
}

if (process.argv[2]?.startsWith("{")) await main(JSON.parse(process.argv[2]) as ContainedTask); // written by the test

async function main({ baseUrl, token, path, rows, seesNoLock }: ContainedTask): Promise<void> {
  if (seesNoLock) hideLocks();
  const client = new Client({ baseUrl, token, maxConcurrency: 20 });
  process.stdout.write("\n"); // it is ready
  await text(process.stdin);
  const run = bulkWrite({ items: rowsOf(rows), key, client, send, journal: fileJournal(path) });
  // A line that the other run has just taken away again leaves unknown items, which is no failure here.
  const { error } = await runToEnd(run);
  const end = error === undefined ? "done" : `${(error as JournalError).reason}: ${(error as JournalError).message}`;
  process.stdout.write(JSON.stringify({ end } satisfies ContainedEnd));
}

/** Lets this process find no lock file beside a journal. */
export function hideLocks(): () => void {
  const { readdir } = promises;
  promises.readdir = async () => [];
  syncBuiltinESMExports();
  return () => {
    promises.readdir = readdir;
    syncBuiltinESMExports();
  };
}
