import type { OperationName } from "../../endpoints.ts";
import type { Fault } from "../../faults.ts";
import type { RecordedRequest } from "../../request-log.ts";

/** A request that a program sent, by its place among those for the same operation. */
export interface ExploredRequest {
  /** The operation; `undefined` for an endpoint of `emulator.route`, or none. */
  readonly operation: OperationName | undefined;
  /** The number among the requests for this operation, from 0: the `skip` of a fault. */
  readonly index: number;
  /** The HTTP method. */
  readonly method: string;
  /** The path below the base URL, as it was sent. */
  readonly path: string;
}

/**
 * A way in which a request fails. `"lost_before"` and `"lost_after"`: the connection breaks, before or after the service
 * did it. `"unavailable"` and `"unavailable_after"`: a 503, likewise. `"cut_body"`: the response body ends early.
 * `"outage"`: no request gets through until the next start. `"token_rejected"`: one 401. `"rate_limit"`: one 429 that asks
 * for 30 seconds. `"stopped"`: the service did it, and the process ends before the response arrives.
 */
export type FaultKind =
  | "lost_before"
  | "lost_after"
  | "unavailable"
  | "unavailable_after"
  | "cut_body"
  | "outage"
  | "token_rejected"
  | "rate_limit"
  | "stopped";

/** One kind of fault. */
interface KindOfFault {
  /** Its effect on the response, as a report says it behind the request. */
  readonly words: string;
  /** The fault, without the choice of the request. */
  readonly effect: Omit<Fault, "operation" | "match" | "skip">;
  /** True if the service did it and the response is lost. */
  readonly losesResponse: boolean;
}

export const KINDS: Readonly<Record<FaultKind, KindOfFault>> = {
  lost_before: { words: "its connection broke", effect: { drop: "before" }, losesResponse: false },
  lost_after: { words: "its response was lost", effect: { drop: "after" }, losesResponse: true },
  unavailable: { words: "it was answered 503", effect: { status: 503 }, losesResponse: false },
  unavailable_after: { words: "it was answered 503", effect: { status: 503, apply: true }, losesResponse: true },
  cut_body: { words: "its response was cut off", effect: { cutAfterBytes: 1 }, losesResponse: true },
  outage: {
    words: "the service was away from here to the next start",
    effect: { drop: "before", times: Infinity },
    losesResponse: false,
  },
  token_rejected: { words: "it was answered 401", effect: { status: 401 }, losesResponse: false },
  rate_limit: {
    words: "it was answered 429 with Retry-After: 30",
    effect: { status: 429, headers: { "retry-after": "30" } },
    losesResponse: false,
  },
  stopped: {
    words: "the process stopped before its response arrived",
    effect: { delayMs: Infinity },
    losesResponse: true,
  },
};

/** The kinds that are tried unless the caller names others. */
export const DEFAULT_KINDS: readonly FaultKind[] = [
  "lost_before",
  "lost_after",
  "unavailable",
  "unavailable_after",
  "cut_body",
  "outage",
  "token_rejected",
];

/** A fault and the request that it hits. */
export interface Disturbance {
  readonly fault: FaultKind;
  readonly request: ExploredRequest;
}

/** The name under which requests are counted. */
export function subjectOf({ operation, method, path }: Pick<ExploredRequest, "operation" | "method" | "path">): string {
  return operation ?? `${method} ${path}`;
}

/** The fault of the emulator for a disturbance. */
export function faultOf({ fault, request }: Disturbance): Fault {
  const { effect } = KINDS[fault];
  const { operation, index } = request;
  const isSame = (other: RecordedRequest): boolean => subjectOf(other) === subjectOf(request);
  if (fault !== "outage")
    return { ...effect, ...(operation === undefined ? { match: isSame } : { operation }), skip: index };
  let seen = 0;
  let isAway = false;
  const match = (other: RecordedRequest): boolean => {
    if (isSame(other)) seen += 1;
    isAway ||= seen > index;
    return isAway;
  };
  return { ...effect, match };
}
