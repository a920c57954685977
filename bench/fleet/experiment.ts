/** What the parts of the experiment tell one another. */
import type { Service } from "../rate-limit/experiment.ts";

export const PROCESSES = 4;
export const CALLS_EACH = 75;

/** What a process of the fleet is to do, once it is told to. */
export interface Task {
  readonly name: string;
  readonly service: Service;
  /** Where the Redis is that the fleet shares its rate limit through; without one, each process is for itself. */
  readonly redis: string | undefined;
}

/** What a process of the fleet says when it waits for the word. */
export interface Ready {
  readonly ready: true;
}

/** What it says at the end. */
export interface MemberReport {
  readonly completed: number;
  readonly failed: number;
}
