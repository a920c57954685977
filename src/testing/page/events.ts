import type { OperationName } from "../endpoints.ts";
import type { OpenWindow } from "../rate-limit.ts";
import type { RecordedRequest } from "../request-log.ts";
import type { EmulatorIssue, EmulatorProject, EmulatorSession, EmulatorToken } from "../tables.ts";

/**
 * The fate of a request: carried out and answered, carried out with its response lost or replaced, or not carried out;
 * `"pending"` until its response has ended.
 */
export type Fate = "pending" | "answered" | "lost" | "not_carried_out";

/** A request as the page lists it. */
export interface PageRequest
  extends Pick<RecordedRequest, "at" | "endedAt" | "method" | "url" | "status" | "code" | "outcome" | "faulty"> {
  /** Its request id, such as `req_12`. */
  readonly id: string;
  readonly operation: OperationName | undefined;
  /** The token that it bears, if the emulator knows it. */
  readonly token: { readonly id: string; readonly name: string } | undefined;
  readonly fate: Fate;
  /** Why it was refused, or how its response was lost, in one sentence. */
  readonly why: string | undefined;
}

/** Up to so many rows of a table, the newest, and how many there are. */
export interface PageTable<Row> {
  readonly count: number;
  readonly newest: readonly Row[];
}

/** The state of the emulator, as far as a page can show it. */
export interface PageWorld {
  readonly projects: PageTable<EmulatorProject & { readonly issues: number; readonly sessions: number }>;
  readonly issues: PageTable<EmulatorIssue & { readonly project: string }>;
  readonly sessions: PageTable<Pick<EmulatorSession, "id" | "state" | "project">>;
  readonly tokens: PageTable<
    Pick<EmulatorToken, "id" | "name" | "scopes" | "owner" | "state" | "expires_at"> & {
      /** Its window of the rate limit; `undefined` if none is open, or nothing is limited. */
      readonly window: OpenWindow | undefined;
    }
  >;
}

/** A fault that waits. */
export interface PageFault {
  /** Its effect, such as `drop after the operation`. */
  readonly does: string;
  /** The operations that it is for; `undefined` for any. */
  readonly operations: readonly OperationName[] | undefined;
  readonly hits: number;
  /** The most requests that it changes; `null` for any number. */
  readonly times: number | null;
}

/** A value of the stream. Times are milliseconds since 1970, by the emulator's clock. */
export type PageEvent = { readonly v: 1 } & (
  | {
      /** The first value, and the first after a `reset()`. */
      readonly type: "snapshot";
      readonly now: number;
      readonly baseUrl: string;
      /** Requests per token and window; `null` if nothing is limited. */
      readonly limit: number | null;
      readonly windowMs: number;
      readonly world: PageWorld;
      readonly faults: readonly PageFault[];
      /** The last 500, oldest first. */
      readonly requests: readonly PageRequest[];
    }
  | { readonly type: "request" | "response"; readonly request: PageRequest }
  | {
      /** A response that told a token to wait. */
      readonly type: "pause";
      readonly request: string;
      readonly token: PageRequest["token"];
      readonly from: number;
      readonly until: number;
    }
  | { readonly type: "world"; readonly world: PageWorld }
  | { readonly type: "fault"; readonly faults: readonly PageFault[] }
);
