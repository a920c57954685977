/** Redis did not answer in time, or with an error: from now on each process obeys its own gate alone. */
export interface DegradedEvent {
  readonly type: "degraded";
  /** `timeout`: no answer within `commandTimeoutMs`; `error`: one that says what is wrong, or no connection. */
  readonly reason: "timeout" | "error";
  /** The code of the error, such as `ECONNREFUSED` or `NOPERM`, where it has one. */
  readonly code?: string;
}

/** Redis answers again: what the processes know is shared again. */
export interface RejoinedEvent {
  readonly type: "rejoined";
  /** How long it was away. */
  readonly afterMs: number;
}

/** What happens between a process and Redis. */
export type FleetEvent = DegradedEvent | RejoinedEvent;
