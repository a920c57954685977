/** What is the same for every contender, and what the parts of the experiment tell one another. */

export const CALLS = 300;
export const RATE_LIMIT = { limit: 50, windowMs: 2_000 } as const;
/** Few enough for one page, so that a call is one request. */
export const PROJECTS = 20;
/** Then a contender is stopped, whatever it still has to do. */
export const TIME_LIMIT_MS = 60_000;
/** The last of the windows that the calls need need not end. */
export const IDEAL_MS = (Math.ceil(CALLS / RATE_LIMIT.limit) - 1) * RATE_LIMIT.windowMs;

/** Sent with each call, so that the server's log tells which call a request belongs to. */
export const CALL_HEADER = "x-call";

export const SCENARIOS = {
  get: "GET /projects",
  post: "POST /projects/{project}/issues",
} as const;
export type Scenario = keyof typeof SCENARIOS;

export interface Project {
  readonly id: string;
  readonly name: string;
}

export interface Issue {
  readonly number: number;
  readonly title: string;
  readonly type: string;
}

/** What the server says once it listens. */
export interface Service {
  readonly baseUrl: string;
  readonly token: string;
  readonly projects: readonly Project[];
}

/** One request in the server's log; times in milliseconds. */
export interface LoggedRequest {
  readonly at: number;
  readonly call: string;
  readonly status: number | undefined;
  /** What a refusal asked for, as it stood in the response. */
  readonly retryAfterMs: number | undefined;
}

/** What the server says at the end. */
export interface ServerReport {
  readonly requests: readonly LoggedRequest[];
  readonly issues: readonly Issue[];
}

/** What a contender's process is to do. */
export interface Task {
  readonly contender: string;
  readonly scenario: Scenario;
  readonly service: Service;
}

/** What a contender's process says at the end. */
export interface ContenderReport {
  readonly completed: number;
  readonly failed: number;
  /** Calls that resolved with something else than what the service holds. */
  readonly wrong: number;
  /** Calls that had not ended when the time was up. */
  readonly unfinished: number;
  readonly wallMs: number;
  /** How often a call failed with which error. */
  readonly errors: Readonly<Record<string, number>>;
  /** The issues as they were answered. */
  readonly issues: readonly Issue[];
}

export function titleOf(call: string): string {
  return `Found by the nightly run, ${call}`;
}
