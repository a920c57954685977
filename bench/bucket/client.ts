/** One client, in a process of its own: rows one after the other, some at a time, each answer checked. */

import { say, taskOf } from "../support/process.ts";
import { clientOf } from "../support/results.ts";
import type { Listening } from "./service.ts";

export interface BucketTask {
  readonly calls: number;
  /** Rows under way at once. */
  readonly wide: number;
  readonly entrant: string;
  readonly packages: readonly string[];
  readonly service: Listening;
}

/** The number of calls by their end, and the time of the last one. */
export interface Endings {
  readonly succeeded: number;
  readonly failed: number;
  readonly seconds: number;
}

const { calls, wide, entrant, packages, service } = taskOf<BucketTask>();
const { client, folder } = clientOf(entrant, packages);
const { createIssue } = await client.connect({ ...service, token: "pat_key_secret", folder });
const titles = Array.from({ length: calls }, (_, at) => `Row ${at + 1}`).values();
let [succeeded, failed] = [0, 0];
const startedAt = performance.now();

async function work(): Promise<void> {
  for (const title of titles) {
    const issue = await createIssue(title).catch(() => undefined);
    if (issue === undefined) failed += 1;
    else if (issue.title === title) succeeded += 1;
    else throw new Error(`${entrant} resolved with ${JSON.stringify(issue)}`);
  }
}

await Promise.all(Array.from({ length: wide }, work));
const seconds = Number(((performance.now() - startedAt) / 1_000).toFixed(1));
say({ succeeded, failed, seconds } satisfies Endings);
