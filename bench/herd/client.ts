/** One client, in a process of its own: all calls at once, each answer checked. */

import { setTimeout as delay } from "node:timers/promises";
import { say, taskOf } from "../support/process.ts";
import { clientOf } from "../support/results.ts";
import type { Listening } from "./service.ts";

export interface HerdTask {
  readonly entrant: string;
  readonly packages: readonly string[];
  readonly service: Listening;
  readonly calls: number;
  readonly timeLimitMs: number;
}

/** How calls ended. Unfinished ones were still waiting when the time was up. */
export interface Endings {
  readonly succeeded: number;
  readonly failed: number;
  readonly unfinished: number;
  readonly seconds: number;
}

const { entrant, packages, service, calls, timeLimitMs } = taskOf<HerdTask>();
const { client, folder } = clientOf(entrant, packages);
const { createIssue } = await client.connect({ ...service, folder });

let succeeded = 0;
let failed = 0;
const startedAt = performance.now();
const all = Promise.all(
  Array.from({ length: calls }, async (_, at) => {
    const title = `Row ${at + 1}`;
    const issue = await createIssue(title).catch(() => undefined);
    if (issue === undefined) failed += 1;
    else if (issue.title === title && Number.isInteger(issue.number)) succeeded += 1;
    else throw new Error(`${entrant}: row ${at + 1} resolved with ${JSON.stringify(issue)}`);
  }),
);
await Promise.race([all, delay(timeLimitMs)]);
const seconds = Number(((performance.now() - startedAt) / 1_000).toFixed(1));
say({ succeeded, failed, unfinished: calls - succeeded - failed, seconds } satisfies Endings);
