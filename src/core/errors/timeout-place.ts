import type { TimeoutPhase } from "./automation-error.ts";

/** The stage in which the time of a call ran out, in words. A call that was sent before may wait in the queue again. */
export function timeoutPlace(phase: TimeoutPhase, attempts: number): string {
  const places: Readonly<Record<TimeoutPhase, string>> = {
    queue: attempts > 0 ? "before it was sent again" : "before the request was sent",
    token: "while getting the token",
    headers: "while waiting for the response",
    body: "while reading the response",
    total: "between attempts",
  };
  return places[phase];
}
