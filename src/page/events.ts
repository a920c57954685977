import type { OperationName } from "../emulator/endpoints.ts";
import type { OpenWindow } from "../emulator/rate-limit.ts";
import type { RecordedRequest } from "../emulator/request-log.ts";
import type { EmulatorIssue, EmulatorProject, EmulatorSession, EmulatorToken } from "../emulator/tables.ts";

/** Requests that a snapshot holds, and that the page keeps. */
export const SHOWN_REQUESTS = 500;

/**
 * The fate of a request: carried out and answered, carried out with its response lost or replaced, or not carried out;
 * `"pending"` until its response has ended.
 */
export type Fate = "pending" | "answered" | "lost" | "not_carried_out";

export interface PageRequest
  extends Pick<
    RecordedRequest,
    "index" | "at" | "endedAt" | "method" | "url" | "status" | "code" | "outcome" | "faulty"
  > {
  /** Its request id, such as `req_12`. */
  readonly id: string;
  readonly operation: OperationName | undefined;
  /** The token that it bears, if the emulator knows it. */
  readonly token: { readonly id: string; readonly name: string } | undefined;
  readonly fate: Fate;
  /** Why it was refused, or how its response was lost, in one sentence. */
  readonly why: string | undefined;
}

export interface PageMessage {
  /** In lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The first 16 kB of it. */
  readonly body: string;
  /** Bytes of the body that are left out. */
  readonly cut: number;
}

/** A request and its response, as `GET /_emulator/requests/{id}` responds. They are not in the stream, which they would slow down. */
export interface PageExchange {
  readonly v: 1;
  readonly request: PageRequest;
  readonly sent: PageMessage;
  /** The response, also one that was cut off. */
  readonly response: PageMessage | undefined;
  /** Why there is no response here, in one sentence. */
  readonly missing: string | undefined;
}

/** The last requests that pass a filter, at most {@link SHOWN_REQUESTS}, oldest first: `GET /_emulator/requests/?failed&text=…`. */
export interface PageList {
  readonly v: 1;
  readonly requests: readonly PageRequest[];
}

/** Up to so many rows of a table, the newest, oldest first, and how many there are. */
export interface PageTable<Row> {
  readonly count: number;
  readonly newest: readonly Row[];
}

export interface PageWorld {
  readonly projects: PageTable<EmulatorProject & { readonly issues: number; readonly sessions: number }>;
  /** `project` is a name here and in `sessions`. */
  readonly issues: PageTable<EmulatorIssue & { readonly project: string }>;
  readonly sessions: PageTable<Pick<EmulatorSession, "id" | "state" | "project">>;
  readonly tokens: PageTable<
    Pick<EmulatorToken, "id" | "name" | "scopes" | "owner" | "state" | "expires_at"> & {
      /** Its window of the rate limit; `undefined` if none is open, or nothing is limited. */
      readonly window: OpenWindow | undefined;
    }
  >;
}

export interface PageFault {
  /** Its effect, such as `drop after the operation`. */
  readonly does: string;
  /** The operations that it is for; `undefined` for any. */
  readonly operations: readonly OperationName[] | undefined;
  readonly hits: number;
  /** The most requests that it changes; `null` for any number. */
  readonly times: number | null;
}

/** Requests that have ended, by their end: accepted, refused (4xx), failed, and those that were carried out and not answered. */
export interface Counts {
  readonly accepted: number;
  readonly refused: number;
  readonly failed: number;
  readonly lost: number;
}

/** The time for which a response told a token to wait. */
export interface Pause {
  readonly token: PageRequest["token"];
  readonly from: number;
  readonly until: number;
}

/** A value of the stream. Times are milliseconds since 1970, by the emulator's clock. */
export type PageEvent = { readonly v: 1 } & (
  | {
      /** The first value, and the first after a `reset()` or a new rate limit. */
      readonly type: "snapshot";
      readonly now: number;
      readonly baseUrl: string;
      /** Requests per token and window; `null` if nothing is limited. */
      readonly limit: number | null;
      readonly windowMs: number;
      readonly world: PageWorld;
      readonly faults: readonly PageFault[];
      /** Since the start or the last `reset()`. */
      readonly counts: Counts;
      /** The last minute by steps of 100 ms in which requests came, each with its beginning. */
      readonly steps: readonly (Counts & { readonly at: number })[];
      readonly pauses: readonly Pause[];
      /** The last ones, at most {@link SHOWN_REQUESTS}, oldest first. */
      readonly requests: readonly PageRequest[];
    }
  | { readonly type: "request"; readonly request: PageRequest }
  | { readonly type: "response"; readonly request: PageRequest }
  /** A response told a token to wait; `request` is its id. */
  | ({ readonly type: "pause"; readonly request: string } & Pause)
  | { readonly type: "world"; readonly world: PageWorld }
  | { readonly type: "fault"; readonly faults: readonly PageFault[] }
);
