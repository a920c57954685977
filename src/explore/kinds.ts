import { now } from "../core/time/clock.ts";
import { isWrite } from "../core/wire/method.ts";
import type { Fault } from "../emulator/faults.ts";
import type { RecordedRequest } from "../emulator/request-log.ts";
import { type ExploredRequest, subjectOf } from "./requests.ts";

/**
 * A way in which a request fails. `"lost_before"` and `"lost_after"`: the connection breaks, before or after the service
 * did it. `"killed_before"` and `"killed_after"`: the program is killed, likewise. `"outage"`: no request gets through for
 * two seconds, or for 20 requests. `"unavailable"` and `"unavailable_after"`: one 503. `"cut_body"`: the response body ends
 * early. `"token_rejected"`: one 401. `"rate_limit"`: one 429 that asks for a second.
 */
export type FaultKind =
  | "lost_before"
  | "lost_after"
  | "killed_before"
  | "killed_after"
  | "outage"
  | "unavailable"
  | "unavailable_after"
  | "cut_body"
  | "token_rejected"
  | "rate_limit";

interface KindOfFault {
  readonly words: string;
  /** The fault of the emulator, without the choice of the request. */
  readonly effect: Omit<Fault, "operation" | "match" | "skip">;
  /** It is tried at the last request of an operation, too: what came before counts. */
  readonly isForLast?: true;
  /** It tells nothing about a read that another kind does not. */
  readonly isForWrites?: true;
  readonly kills?: true;
}

export const KINDS: Readonly<Record<FaultKind, KindOfFault>> = {
  lost_before: { words: "its connection broke", effect: { drop: "before" }, isForLast: true },
  lost_after: { words: "its response was lost", effect: { drop: "after" }, isForLast: true, isForWrites: true },
  killed_before: {
    words: "the program was killed as it sent it",
    effect: { drop: "before", delayMs: Infinity },
    isForLast: true,
    kills: true,
  },
  killed_after: {
    words: "the program was killed before its response came",
    effect: { delayMs: Infinity },
    isForLast: true,
    isForWrites: true,
    kills: true,
  },
  outage: {
    words: "the service was away from here on",
    effect: { drop: "before", times: Infinity },
    isForLast: true,
  },
  unavailable: { words: "it was answered 503", effect: { status: 503 } },
  unavailable_after: { words: "it was answered 503", effect: { status: 503, apply: true }, isForWrites: true },
  cut_body: { words: "its response was cut off", effect: { cutAfterBytes: 1 } },
  token_rejected: { words: "it was answered 401", effect: { status: 401 } },
  rate_limit: {
    words: "it was answered 429 with Retry-After: 1",
    effect: { status: 429, headers: { "retry-after": "1" } },
  },
};

export const KIND_NAMES: readonly FaultKind[] = Object.keys(KINDS) as FaultKind[]; // its own keys

export interface Disturbance {
  readonly fault: FaultKind;
  readonly request: ExploredRequest;
}

export function nameOf({ fault, request }: Disturbance): string {
  return `${fault} ${subjectOf(request)} ${request.number}`;
}

export function suits(fault: FaultKind, { method, status }: ExploredRequest): boolean {
  if (fault === "cut_body" && status === 204) return false;
  return isWrite(method) || KINDS[fault].isForWrites !== true;
}

const OUTAGE = { requests: 20, ms: 2_000 };

/** A read that is not carried out: it would move a session on, and time that has passed is no fault of the program. */
const CUT_READ: Fault = { status: 200, body: "{}", cutAfterBytes: 1 };

/** The fault of the emulator for a disturbance. `onHit` is called as its request comes, before that is carried out. */
export function faultOf({ fault, request }: Disturbance, onHit: () => void): Fault {
  let seen = 0;
  let endsAt: number | undefined;
  let taken = 0;
  const match = (other: RecordedRequest): boolean => {
    const isSame = subjectOf(other) === subjectOf(request);
    if (isSame) seen += 1;
    const isHit = isSame && seen === request.number;
    if (isHit) onHit();
    if (fault !== "outage") return isHit;
    if (isHit) endsAt = now() + OUTAGE.ms;
    if (endsAt === undefined || now() > endsAt) return false;
    taken += 1;
    return taken <= OUTAGE.requests;
  };
  const effect = fault === "cut_body" && !isWrite(request.method) ? CUT_READ : KINDS[fault].effect;
  return { ...effect, match };
}
