/** The import itself, in a process of its own: so many issues, with the journal that its task names. */

import { bulkWrite, type Journal, memoryJournal, type SendOptions } from "../../dist/bulk/index.js";
import { fileJournal } from "../../dist/bulk/node.js";
import { Client, type Issue } from "../../dist/index.js";
import { say, taskOf } from "../support/part.ts";

export interface Task {
  readonly service: { readonly baseUrl: string; readonly token: string };
  readonly items: number;
  readonly concurrency: number;
  readonly maxConcurrency: number;
  /** `"none"`: the client alone, without a run. */
  readonly journal: "file" | "memory" | "none";
  /** The path of the journal's file. */
  readonly path: string;
}

export interface Report {
  readonly done: number;
  readonly wallMs: number;
  /** Of the whole process, between the beginning and the end of the run. */
  readonly cpuMs: number;
  /** How many batches the journal was given. */
  readonly batches: number;
}

const task = taskOf<Task>();
const { items, concurrency, maxConcurrency } = task;
const client = new Client({ ...task.service, maxConcurrency });
const rows = Array.from({ length: items }, (_, index) => `row-${index}`);
const send = (row: string, options?: SendOptions): Promise<Issue> =>
  client.issues.create("project-1", { title: row, type: "bug" }, options);

let batches = 0;
const journal = task.journal === "file" ? await fileJournal(task.path) : memoryJournal();
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
const done =
  task.journal === "none"
    ? (await Promise.all(rows.map((row) => send(row)))).length
    : (await bulkWrite({ items: rows, key: (row) => row, send, journal: counted, concurrency }).finish()).done;
const wallMs = performance.now() - startedAt;
const { user, system } = process.cpuUsage(cpu);
say({ done, wallMs, cpuMs: (user + system) / 1_000, batches } satisfies Report);
