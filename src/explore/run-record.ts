import type { RecordedRequest } from "../emulator/request-log.ts";
import type { Thing } from "./world.ts";

export interface Outcome {
  /** `"done"` is an exit code of 0, `"failed"` is any other. */
  readonly state: "done" | "failed" | "killed" | "hangs";
  /** The end, as a report says it behind the number of the start. */
  readonly words: string;
}

export interface StartRecord {
  readonly outcome: Outcome;
  readonly requests: readonly RecordedRequest[];
  readonly ms: number;
}

/** The state after starts, the last of which said that it is done, or was the last that is made. */
export interface End {
  readonly starts: readonly StartRecord[];
  readonly things: readonly Thing[];
}

export const isDone = (starts: readonly StartRecord[]): boolean => starts.at(-1)?.outcome.state === "done";

/** A run: the starts until one is done, and those of one more time. */
export interface RunRecord {
  /** The request that the fault has hit; `undefined` if it did not come. */
  readonly hit: RecordedRequest | undefined;
  readonly first: End;
  readonly again: End | undefined;
}

export const startsOf = ({ first, again }: Pick<RunRecord, "first" | "again">): StartRecord[] => [
  ...first.starts,
  ...(again?.starts ?? []),
];
