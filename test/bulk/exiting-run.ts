/** A run in a process of its own, which exits in the turn in which the run has settled. Its task is its first argument, as JSON. */
import { writeSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { bulkWrite } from "../../src/bulk/index.ts";
import { fileJournal } from "../../src/bulk/node.ts";
import { Client } from "../../src/client/index.ts";
import { key, rowsOf, send } from "./rows.ts";

/** Where the service is, and the file of the journal. */
export interface ExitingTask {
  readonly baseUrl: string;
  readonly token: string;
  readonly path: string;
  readonly rows: number;
}

if (process.argv[2]?.startsWith("{")) await main(JSON.parse(process.argv[2]) as ExitingTask); // written by the test

async function main({ baseUrl, token, path, rows }: ExitingTask): Promise<void> {
  const { done, skipped } = await bulkWrite({
    client: new Client({ baseUrl, token }),
    items: rowsOf(rows),
    key,
    send: async (client, row) => {
      const made = await send(client, row);
      await appendFile(`${path}.log`, `${row.id}\n`);
      return made;
    },
    journal: fileJournal(path),
  });
  writeSync(1, `done ${done}, skipped ${skipped}\n`);
  process.exit();
}
