import { isBytes } from "../core/checks/values.ts";
import { type OperationName, queryOf } from "./endpoints.ts";
import type { Ending, IncomingRequest } from "./exchange.ts";
import type { Unsettled } from "./response.ts";

/** One request in the log. It is live: `status`, `applied` and `outcome` fill in while the request is being answered. */
export interface RecordedRequest {
  /** Counts from 0, in order of arrival. */
  readonly index: number;
  /** The arrival, by the emulator's clock. */
  readonly at: number;
  /** The end of the response, by the emulator's clock; `undefined` until then. */
  readonly endedAt: number | undefined;
  /** The HTTP method. */
  readonly method: string;
  /** Path and query as they were sent, percent-encoding and all. */
  readonly url: string;
  /** The path below the base URL as it was sent, such as `/projects/a%2Fb/issues`; the whole one if it is outside. */
  readonly path: string;
  /** The query parameters, decoded; of a repeated one, the last. */
  readonly query: Readonly<Record<string, string>>;
  /** Which operation it addresses; `undefined` if there is none for method and path. */
  readonly operation: OperationName | undefined;
  /** The number of this request among those for the same operation, from 1. */
  readonly attempt: number;
  /** The headers in lower case; of `authorization`, the secret is masked. */
  readonly headers: Readonly<Record<string, string>>;
  /** The `key_id` of the token, whether it is still valid or not; `undefined` if the emulator does not know it. */
  readonly token: string | undefined;
  /** The body as it was sent, byte for byte if it is UTF-8; `""` if there was none or it was too large. */
  readonly text: string;
  /** `text` parsed as JSON, anew at each access; `undefined` if it is not JSON. */
  readonly body: unknown;
  /** The number of other requests that were still being answered when this one came. */
  readonly inFlight: number;
  /** The id of the request, in the `x-request-id` of the response. */
  readonly requestId: string;
  /** The status of the response; `undefined` if the connection was dropped without one. */
  readonly status: number | undefined;
  /** The `error` of the response's body. */
  readonly code: string | undefined;
  /** True if the operation was carried out; a response that was lost or replaced does not show it. */
  readonly applied: boolean;
  /** True if a scripted fault changed the response. */
  readonly faulty: boolean;
  /** The end of its response: `"cut"` or `"dropped"` by a fault, `"aborted"` by the client; `"pending"` until then. */
  readonly outcome: "pending" | Ending;
}

/**
 * Is called with each request that is in the log, when the service has decided on it. Returns what is to be called once its
 * response has ended.
 */
export type Watcher = (request: RecordedRequest, response: Unsettled) => () => void;

export type LogEntry = { -readonly [Key in keyof RecordedRequest]: RecordedRequest[Key] };

export interface Arrival extends Pick<RecordedRequest, "path" | "operation" | "token" | "at"> {
  readonly incoming: IncomingRequest;
}

/** The requests of one emulator, oldest first; beyond its limit the oldest are forgotten. */
export class RequestLog {
  readonly #entries: LogEntry[];
  readonly #limit: number;
  readonly #attempts = new Map<string, number>();
  #count = 0;
  #inFlight = 0;

  /** Writes to `entries`, which are the caller's. */
  constructor(entries: LogEntry[], limit: number) {
    this.#entries = entries;
    this.#limit = limit;
  }

  open(arrival: Arrival): LogEntry {
    const key = arrival.operation ?? "";
    const attempt = (this.#attempts.get(key) ?? 0) + 1;
    this.#attempts.set(key, attempt);
    const entry = createEntry(arrival, { index: this.#count, attempt, inFlight: this.#inFlight });
    this.#count += 1;
    this.#inFlight += 1;
    this.#entries.push(entry);
    if (this.#entries.length > this.#limit) this.#entries.shift();
    return entry;
  }

  /** Returns whether the entry was still open. */
  close(entry: LogEntry, ending: { readonly outcome: Ending; readonly at: number }): boolean {
    if (entry.outcome !== "pending") return false;
    this.#inFlight -= 1;
    entry.outcome = ending.outcome;
    entry.endedAt = ending.at;
    return true;
  }
}

function createEntry(arrival: Arrival, counts: Pick<LogEntry, "index" | "attempt" | "inFlight">): LogEntry {
  const { incoming, ...known } = arrival;
  const { method, target, headers, body } = incoming;
  const text = isBytes(body) ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(body) : "";
  return {
    ...known,
    ...counts,
    method,
    url: target,
    query: Object.fromEntries(new URLSearchParams(queryOf(target))),
    headers: maskedHeaders(headers, known.token !== undefined),
    text,
    get body(): unknown {
      return parse(text);
    },
    requestId: `req_${counts.index + 1}`,
    endedAt: undefined,
    status: undefined,
    code: undefined,
    applied: false,
    faulty: false,
    outcome: "pending",
  };
}

function parse(text: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    return parsed;
  } catch {
    return undefined;
  }
}

function maskedHeaders(headers: Headers, isKnown: boolean): Record<string, string> {
  const lines: Record<string, string> = Object.fromEntries(headers);
  const authorization = lines["authorization"];
  return authorization === undefined ? lines : { ...lines, authorization: mask(authorization, isKnown) };
}

/** Of a known token all but the secret stays; of anything else, only the scheme. */
function mask(authorization: string, isKnown: boolean): string {
  if (isKnown) return `${authorization.slice(0, authorization.lastIndexOf("_"))}_***`;
  return authorization.replace(/^(\S+ +)?.*$/s, "$1***");
}
