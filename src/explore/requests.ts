import type { OperationName } from "../emulator/endpoints.ts";
import type { RecordedRequest } from "../emulator/request-log.ts";

/** A request of the undisturbed program, by its place among those for the same operation. */
export interface ExploredRequest {
  /** The operation; `undefined` for an endpoint of `emulator.route`, or none. */
  readonly operation: OperationName | undefined;
  /** The number among the requests of the run for this operation, from 1. */
  readonly number: number;
  /** The HTTP method. */
  readonly method: string;
  /** The path below the base URL, as it was sent. */
  readonly path: string;
  /** The status of the undisturbed response. */
  readonly status: number | undefined;
}

/** The name under which requests are counted. */
export function subjectOf({ operation, method, path }: Pick<ExploredRequest, "operation" | "method" | "path">): string {
  return operation ?? `${method} ${path}`;
}

export function requestsOf(log: readonly RecordedRequest[]): ExploredRequest[] {
  const counts = new Map<string, number>();
  return log.map(({ operation, method, path, status }) => {
    const subject = subjectOf({ operation, method, path });
    const number = (counts.get(subject) ?? 0) + 1;
    counts.set(subject, number);
    return { operation, number, method, path, status };
  });
}
