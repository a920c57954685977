/** The records of the service. They go round, so that the answer of each call differs from the one before. */

import { type Item, PROJECT } from "../clients.ts";

export const ROUND = 64;

export const ANSWER_HEADERS = {
  "content-type": "application/json",
  "ratelimit-limit": "1000000",
  "ratelimit-remaining": "999999",
  "x-request-id": "req_0123456789",
} as const;

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
  return JSON.stringify({ number: (call % ROUND) + 1, title: titleOf(call), type: "bug", status: "open" });
}

export function itemOf(at: number): Item {
  return { id: `prj_${at}`, name: `Project ${at}` };
}
