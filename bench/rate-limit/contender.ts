/** One contender, in a process of its own: all calls at once, each answer checked. */

import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { say, taskOf } from "../support/part.ts";
import { type Calls, contenders } from "./contenders.ts";
import { CALLS, type ContenderReport, type Issue, type Task, TIME_LIMIT_MS, titleOf } from "./experiment.ts";

const { contender, scenario, service } = taskOf<Task>();
const [project] = service.projects;
const calls = await contenders.find(({ name }) => name === contender)?.connect(service);
if (calls === undefined || project === undefined) throw new Error(`there is no contender ${contender}, or no project`);

let completed = 0;
let failed = 0;
let wrong = 0;
const errors: Record<string, number> = {};
const issues: Issue[] = [];

const perform = { get: getProjects, post: postIssue }[scenario];
const startedAt = performance.now();
const all = Promise.all(
  Array.from({ length: CALLS }, async (_, index) => {
    try {
      if (await perform(calls, String(index + 1))) completed += 1;
      else wrong += 1;
    } catch (error) {
      failed += 1;
      const summary = summaryOf(error);
      errors[summary] = (errors[summary] ?? 0) + 1;
    }
  }),
);
await Promise.race([all, delay(TIME_LIMIT_MS)]);
const wallMs = performance.now() - startedAt;
const unfinished = CALLS - completed - failed - wrong;
say({ completed, failed, wrong, unfinished, wallMs, errors, issues } satisfies ContenderReport);

/** Whether the answer is the projects that the service holds, all of them. */
async function getProjects(client: Calls, call: string): Promise<boolean> {
  return isDeepStrictEqual(await client.listProjects(call), service.projects);
}

/** Whether the answer is the issue that was asked for. Its number is compared with the service's, later. */
async function postIssue(client: Calls, call: string): Promise<boolean> {
  const wanted = { title: titleOf(call), type: "bug" };
  const issue = (await client.createIssue(call, { project: project?.id ?? "", ...wanted })) as Issue;
  if (issue.title !== wanted.title || issue.type !== wanted.type || !Number.isInteger(issue.number)) return false;
  issues.push({ number: issue.number, ...wanted });
  return true;
}

function summaryOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { status, response } = error as { status?: unknown; response?: { status?: unknown } };
  return [error.constructor.name, status ?? response?.status].filter((part) => part !== undefined).join(" ");
}
