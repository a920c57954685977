/** What every contender is asked to do, and what the service holds. */

export interface Session {
  readonly id: string;
  readonly state: string;
}

export interface Issue {
  readonly number: number;
  readonly title: string;
  readonly status: string;
}

export interface Item {
  readonly id: string;
  readonly name: string;
}

/** What is done with an item; the walk waits for what comes of it, if anything does. */
export type Visit = (item: Item) => Promise<void> | undefined;

/** One client, as its documentation makes it. */
export interface Calls {
  getSession(id: string, signal?: AbortSignal): Promise<Session>;
  createIssue(title: string): Promise<Issue>;
  /** Shows every item of a list, in its order, to `visit`, by the client's own way of following pages. */
  walk(limit: number, visit: Visit): Promise<void>;
}

/** Where a client is pointed to. */
export interface Setting {
  /** Where the service is, without a path. */
  readonly origin: string;
  readonly token: string;
  /** Instead of the global one. */
  readonly fetch: typeof fetch | undefined;
  /** The checkout whose `dist` is measured. */
  readonly package: string;
  /** For how many calls at once the client is made; its default where nothing is said. */
  readonly concurrency?: number;
}

export const PROJECT = "web";
export const TOKEN = "pat_k3y1d_s3cr3ts3cr3ts3cr3ts3cr3t";

/** Sessions and issues go round, so that each call's answer differs from the one before. */
export const ROUND = 64;

export function sessionId(call: number): string {
  return `ses_${call % ROUND}`;
}

export function titleOf(call: number): string {
  return `The nightly run failed, ${call % ROUND}`;
}

export function sessionBody(id: string): string {
  return JSON.stringify({ id, state: "running", created_at: "2026-01-01T00:00:00Z", project: PROJECT });
}

export function issueBody(call: number): string {
  const title = titleOf(call);
  return JSON.stringify({ number: (call % ROUND) + 1, title, type: "bug", status: "open" });
}

/** With every answer of the service. */
export const ANSWER_HEADERS = {
  "content-type": "application/json",
  "ratelimit-limit": "1000000",
  "ratelimit-remaining": "999999",
  "x-request-id": "req_0123456789",
} as const;

/** The items of a list from one number up to another, without that. */
export function itemsFrom(from: number, until: number): Item[] {
  return Array.from({ length: until - from }, (_, at) => itemOf(from + at));
}

export function itemOf(at: number): Item {
  return { id: `prj_${at}`, name: `Project ${at}` };
}

/** The loop over whatever gives items one by one. */
export async function visitEach(items: AsyncIterable<Item>, visit: Visit): Promise<void> {
  for await (const item of items) {
    const busy = visit(item);
    if (busy !== undefined) await busy;
  }
}

/** The loop over the items of a page at hand. */
export async function visitPage(items: readonly Item[], visit: Visit): Promise<void> {
  for (const item of items) {
    const busy = visit(item);
    if (busy !== undefined) await busy;
  }
}
