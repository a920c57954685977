import type { PageRequest } from "../events.ts";
import { type Kind, kindOf } from "../tally.ts";

/** Each kind has a mark of its own beside its colour. */
export const KINDS: readonly (readonly [kind: Kind, mark: string, name: string])[] = [
  ["accepted", "●", "accepted"],
  ["refused", "▲", "refused"],
  ["failed", "✕", "failed"],
  ["lost", "◆", "answer lost"],
];

export function markOf(request: PageRequest): string {
  const kind = kindOf(request);
  return KINDS.find(([name]) => name === kind)?.[1] ?? "○";
}

export function wordsOfFate({ fate }: PageRequest): string {
  return {
    pending: "not answered yet",
    answered: "carried out and answered",
    lost: "carried out, answer lost",
    not_carried_out: "not carried out",
  }[fate];
}

/** The fate in a row, where a request that was not carried out says why. */
export function resultOf(request: PageRequest): string {
  const { fate, why, code } = request;
  const reason = why?.split(";")[0] ?? code?.replaceAll("_", " ");
  return wordsOfFate(request) + (fate === "not_carried_out" && reason !== undefined ? `: ${reason}` : "");
}

/** The status, or how the request ended without one. */
export function statusOf({ status, outcome, fate }: PageRequest): string {
  if (fate === "pending") return "…";
  return status === undefined || outcome === "aborted" ? outcome : String(status);
}

export function tookOf({ at, endedAt }: PageRequest): string {
  return endedAt === undefined ? "" : String(Math.round(endedAt - at));
}

/** The time of the lines in the terminal. */
export function timeOf(at: number): string {
  return new Date(at).toISOString().slice(11, 23);
}

export function numberOf(count: number): string {
  return count.toLocaleString("en");
}

export function secondsOf(ms: number): string {
  const seconds = ms / 1000;
  return `${seconds < 10 ? Number(seconds.toFixed(1)) : Math.round(seconds)} s`;
}

export function pathOf({ url }: PageRequest, baseUrl: string): string {
  const { pathname } = new URL(baseUrl);
  return url.startsWith(`${pathname}/`) ? url.slice(pathname.length) : url;
}

export function prettyOf(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
