/** One client, in a process of its own: all calls at once, each answer checked. */

import { say, taskOf } from "../support/process.ts";
import { clientOf } from "../support/results.ts";
import type { Listening } from "./service.ts";

export interface HerdTask {
  readonly calls: number;
  readonly entrant: string;
  readonly packages: readonly string[];
  readonly service: Listening;
}

/** How many calls ended how, and when the last one did. */
export interface Endings {
  readonly succeeded: number;
  readonly failed: number;
  readonly seconds: number;
}

const { calls, entrant, packages, service } = taskOf<HerdTask>();
const { client, folder } = clientOf(entrant, packages);
const { createIssue } = await client.connect({ ...service, folder });
const titles = Array.from({ length: calls }, (_, at) => `Row ${at + 1}`);
const startedAt = performance.now();
const issues = await Promise.all(titles.map((title) => createIssue(title).catch(() => undefined)));
const seconds = Number(((performance.now() - startedAt) / 1_000).toFixed(1));
const succeeded = issues.filter((issue) => issue !== undefined).length;
const wrong = issues.find((issue, at) => issue !== undefined && issue.title !== titles[at]);
if (wrong !== undefined) throw new Error(`${entrant} resolved with ${JSON.stringify(wrong)}`);
say({ succeeded, failed: calls - succeeded, seconds } satisfies Endings);
