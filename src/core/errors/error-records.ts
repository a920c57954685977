/** A record that changes its state, as far as an error shows it. */
export interface PolledRecord {
  /** Identifies the record. */
  id: string;
  /** The state when it was last seen. The API documentation does not list the values. */
  state: string;
}

/** The records that an error may carry, each noted by the part of the client that read it. No print and no `toJSON` shows one. */
export interface ErrorRecords {
  /** In a wait for a session: the last session seen, if there was one. It may hold anything that the service sends. */
  session?: PolledRecord | undefined;
}
