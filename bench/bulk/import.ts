/** The import itself, in a process of its own: so many issues, with the journal that its task names. */

import { Client } from "project-automation";
import { bulkWrite, type Journal, memoryJournal } from "project-automation/bulk";
import { fileJournal } from "project-automation/bulk/node";
import { say, taskOf } from "../support/part.ts";

export interface Task {
  readonly service: { readonly baseUrl: string; readonly token: string };
  readonly items: number;
  readonly concurrency: number;
  /** The path of a file; without one, the journal is in memory. */
  readonly path: string | undefined;
}

export interface Report {
  readonly done: number;
  readonly wallMs: number;
  /** Of the whole process, between the beginning and the end of the run. */
  readonly cpuMs: number;
  /** How many batches the journal was given. */
  readonly batches: number;
}

const { service, items, concurrency, path } = taskOf<Task>();
const client = new Client({ ...service, maxConcurrency: concurrency });
const journal = path === undefined ? memoryJournal() : await fileJournal(path);
let batches = 0;
const counted: Journal = {
  load: () => journal.load(),
  append: (records) => {
    batches += 1;
    return journal.append(records);
  },
  close: () => journal.close?.(),
};
const cpu = process.cpuUsage();
const startedAt = performance.now();
const { done } = await bulkWrite({
  items: Array.from({ length: items }, (_, index) => `row-${index}`),
  key: (row) => row,
  send: (row, options) => client.issues.create("project-1", { title: row, type: "bug" }, options),
  journal: counted,
  concurrency,
}).finish();
const wallMs = performance.now() - startedAt;
const { user, system } = process.cpuUsage(cpu);
say({ done, wallMs, cpuMs: (user + system) / 1_000, batches } satisfies Report);
