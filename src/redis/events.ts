/** Redis did not answer in time, or with an error: from now on each process goes by its own gate alone. */
export interface DegradedEvent {
  readonly type: "degraded";
  /**
   * `timeout`: no answer within `commandTimeoutMs`; `error`: an error reply, or a lost connection; `not_connected`: a client
   * of node-redis that was never connected, is closed, or has no connection yet.
   */
  readonly reason: "timeout" | "error" | "not_connected";
  /** The same in a sentence, for a log line. */
  readonly message: string;
  /** The code of the error, or else of the latest one that the Redis client told of, such as `ECONNREFUSED` or `WRONGPASS`. */
  readonly code?: string;
}

/** Redis answers again: what the processes know is shared again. */
export interface RejoinedEvent {
  readonly type: "rejoined";
  /** Milliseconds for which sharing was off. */
  readonly afterMs: number;
}

/** Events between a process and Redis. */
export type FleetEvent = DegradedEvent | RejoinedEvent;
