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

/** One client, as its documentation makes it. */
export interface Calls {
  getSession(id: string): Promise<Session>;
  createIssue(title: string): Promise<Issue>;
  /** Every item of a long list, in its order, by the client's own way of following pages. */
  walk?(limit: number): AsyncIterable<Item>;
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
