/** The records of the service. They go round, so that the answer of each call differs from the one before. */

import { type Item, PROJECT } from "../clients.ts";

export const ROUND = 64;
export const HEADERS = {
  "content-type": "application/json",
  "ratelimit-limit": "1000000",
  "ratelimit-remaining": "999999",
  "x-request-id": "req_0123456789",
} as const;

export const sessionId = (call: number): string => `ses_${call % ROUND}`;
export const titleOf = (call: number): string => `The nightly run failed, ${call % ROUND}`;
export const sessionBody = (id: string): string => JSON.stringify({ id, state: "running", project: PROJECT });
export const issueBody = (call: number): string =>
  JSON.stringify({ number: call + 1, title: titleOf(call), type: "bug", status: "open" });
export const itemOf = (at: number): Item => ({ id: `prj_${at}`, name: `Project ${at}` });
