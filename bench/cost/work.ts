/** What laps are made of. Each looks at what it was given: a contender that skips its work makes the bench fail. */

import { isDeepStrictEqual } from "node:util";
import { type Calls, type Item, itemOf, sessionId, titleOf, type Visit } from "./calls.ts";

export async function getSession(calls: Calls, at: number, signal?: AbortSignal): Promise<void> {
  const { id, state } = await calls.getSession(sessionId(at), signal);
  if (id !== sessionId(at) || state !== "running") throw new Error(`call ${at} resolved with session ${id}, ${state}`);
}

export async function createIssue(calls: Calls, at: number): Promise<void> {
  const { title, status } = await calls.createIssue(titleOf(at));
  if (title !== titleOf(at) || status !== "open") throw new Error(`call ${at} resolved with issue ${title}, ${status}`);
}

export interface WalkRules {
  readonly pageSize: number;
  /** What is done after each page, if anything. */
  readonly afterPage?: () => Promise<void> | undefined;
}

/** Walks a list and looks at each item, at little cost: at the last digits of its id. */
export async function walk(calls: Calls, items: number, { pageSize, afterPage }: WalkRules): Promise<void> {
  let seen = 0;
  const visit: Visit = ({ id }) => {
    if (id.charCodeAt(id.length - 1) !== 48 + (seen % 10)) throw new Error(`${id} is not item ${seen}`);
    seen += 1;
    return afterPage !== undefined && seen % pageSize === 0 ? afterPage() : undefined;
  };
  await calls.walk(pageSize, visit);
  if (seen !== items) throw new Error(`${seen} items instead of ${items}`);
}

/** Walks a list and compares each item with what the service holds. */
export async function checkWalk(calls: Calls, items: number, pageSize: number): Promise<void> {
  let seen = 0;
  await calls.walk(pageSize, (item: Item) => {
    if (!isDeepStrictEqual({ ...item }, itemOf(seen))) throw new Error(`${JSON.stringify(item)} is not item ${seen}`);
    seen += 1;
    return undefined;
  });
  if (seen !== items) throw new Error(`${seen} items instead of ${items}`);
}
