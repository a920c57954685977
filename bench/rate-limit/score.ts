import type { ContenderReport, Issue, LoggedRequest, ServerReport } from "./experiment.ts";

/** What came of a contender's calls, as it says, and what they cost, as the server's log says. */
export interface Score extends Omit<ContenderReport, "issues"> {
  readonly requests: number;
  readonly refused: number;
  /** Requests that came while a pause ran that any refusal had asked for. */
  readonly early: number;
  /** Those of them that sent a call again which had been told itself to wait for longer. */
  readonly earlyAgain: number;
  readonly created: number;
  /** Issues beyond one for each title. */
  readonly duplicates: number;
}

export function score({ issues: answered, ...contender }: ContenderReport, server: ServerReport): Score {
  const lost = answered.filter((issue) => !isHeld(issue, server.issues)).length;
  return {
    ...contender,
    completed: contender.completed - lost,
    wrong: contender.wrong + lost,
    requests: server.requests.length,
    refused: server.requests.filter(({ status }) => status === 429).length,
    ...earlyRequests(server.requests),
    created: server.issues.length,
    duplicates: server.issues.length - new Set(server.issues.map(({ title }) => title)).size,
  };
}

function earlyRequests(requests: readonly LoggedRequest[]): Pick<Score, "early" | "earlyAgain"> {
  let early = 0;
  let earlyAgain = 0;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  const pausedUntilOf = new Map<string, number>();
  for (const { at, call, retryAfterMs } of requests) {
    if (at < pausedUntil) early += 1;
    if (at < (pausedUntilOf.get(call) ?? Number.NEGATIVE_INFINITY)) earlyAgain += 1;
    if (retryAfterMs === undefined) continue;
    pausedUntil = Math.max(pausedUntil, at + retryAfterMs);
    pausedUntilOf.set(call, Math.max(pausedUntilOf.get(call) ?? 0, at + retryAfterMs));
  }
  return { early, earlyAgain };
}

function isHeld(issue: Issue, held: readonly Issue[]): boolean {
  return held.some(({ number, title }) => number === issue.number && title === issue.title);
}
