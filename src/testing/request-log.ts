import type { OperationName } from "./conventions.ts";
import type { Ending, Incoming } from "./exchange.ts";

/** One request in the log. It is live: `status`, `applied` and `outcome` fill in while the request is being answered. */
export interface RecordedRequest {
  /** Counts from 0, in order of arrival. */
  readonly index: number;
  /** The arrival, by the emulator's clock. */
  readonly at: number;
  /** The end of the answer, by the emulator's clock; `undefined` while it is under way. */
  readonly endedAt: number | undefined;
  /** The HTTP method. */
  readonly method: string;
  /** Path and query as they were sent, percent-encoding and all. */
  readonly url: string;
  /** The path below the base URL as it was sent, such as `/projects/a%2Fb/issues`; the whole one when it is outside. */
  readonly path: string;
  /** The query parameters, decoded; of a repeated one, the last. */
  readonly query: Readonly<Record<string, string>>;
  /** Which operation it addresses; `undefined` when the contract has none for method and path. */
  readonly operation: OperationName | undefined;
  /** How many requests for the same operation have come, this one included. */
  readonly attempt: number;
  /** The headers in lower case; of `authorization`, the secret is masked. */
  readonly headers: Readonly<Record<string, string>>;
  /** The `key_id` of the token, whether it is still valid or not; `undefined` when the emulator does not know it. */
  readonly token: string | undefined;
  /** The body as it was sent, byte for byte where it is UTF-8; `""` when there was none or it was too large. */
  readonly text: string;
  /** `text` parsed as JSON, anew at each access; `undefined` when it is no JSON. */
  readonly body: unknown;
  /** How many other requests were still being answered when this one came. */
  readonly inFlight: number;
  /** The `x-request-id` of the response. */
  readonly requestId: string;
  /** The status of the response; `undefined` when the connection was dropped without one. */
  readonly status: number | undefined;
  /** The `error` of the response's body. */
  readonly code: string | undefined;
  /** Whether the operation was carried out, which a response that was lost or replaced does not show. */
  readonly applied: boolean;
  /** Whether a scripted fault had a hand in the answer. */
  readonly faulty: boolean;
  /**
   * How its answer ended: `"completed"`; `"cut"` or `"dropped"` by a fault; `"aborted"` by the client; `"pending"`
   * until then.
   */
  readonly outcome: "pending" | Ending;
}

/** What the service knows of a request when it comes. */
export interface Arrival {
  readonly incoming: Incoming;
  readonly path: string;
  readonly operation: OperationName | undefined;
  readonly token: string | undefined;
  readonly at: number;
}

/** An entry of the log, as the service fills it in. */
export class LogEntry implements RecordedRequest {
  readonly index: number;
  readonly at: number;
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly operation: OperationName | undefined;
  readonly attempt: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly token: string | undefined;
  readonly text: string;
  readonly inFlight: number;
  readonly requestId: string;
  endedAt: number | undefined = undefined;
  status: number | undefined = undefined;
  code: string | undefined = undefined;
  applied = false;
  faulty = false;
  outcome: "pending" | Ending = "pending";

  constructor(arrival: Arrival, counts: { index: number; attempt: number; inFlight: number }) {
    const { incoming } = arrival;
    this.index = counts.index;
    this.attempt = counts.attempt;
    this.inFlight = counts.inFlight;
    this.requestId = `req_${counts.index + 1}`;
    this.at = arrival.at;
    this.method = incoming.method;
    this.url = incoming.target;
    this.path = arrival.path;
    this.query = Object.fromEntries(new URLSearchParams(queryOf(incoming.target)));
    this.operation = arrival.operation;
    this.token = arrival.token;
    this.headers = maskedHeaders(incoming.headers, arrival.token !== undefined);
    this.text =
      incoming.body instanceof Uint8Array ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(incoming.body) : "";
  }

  get body(): unknown {
    try {
      const parsed: unknown = JSON.parse(this.text);
      return parsed;
    } catch {
      return undefined;
    }
  }
}

/** The requests of one emulator, oldest first; beyond `limit` the oldest are forgotten. */
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
    const attempt = (this.#attempts.get(arrival.operation ?? "") ?? 0) + 1;
    this.#attempts.set(arrival.operation ?? "", attempt);
    const entry = new LogEntry(arrival, { index: this.#count, attempt, inFlight: this.#inFlight });
    this.#count += 1;
    this.#inFlight += 1;
    this.#entries.push(entry);
    if (this.#entries.length > this.#limit) this.#entries.shift();
    return entry;
  }

  /** Whether the entry was still open. */
  close(entry: LogEntry, ending: { readonly outcome: Ending; readonly at: number }): boolean {
    if (entry.outcome !== "pending") return false;
    this.#inFlight -= 1;
    entry.outcome = ending.outcome;
    entry.endedAt = ending.at;
    return true;
  }
}

/** The query of a request target, without its question mark. */
export function queryOf(target: string): string {
  const start = target.indexOf("?");
  return start === -1 ? "" : target.slice(start + 1);
}

function maskedHeaders(headers: Headers, known: boolean): Record<string, string> {
  const lines: Record<string, string> = Object.fromEntries(headers);
  const authorization = lines["authorization"];
  return authorization === undefined ? lines : { ...lines, authorization: mask(authorization, known) };
}

/** Of a known token all but the secret stays; of anything else, only the scheme. */
function mask(authorization: string, known: boolean): string {
  if (known) return `${authorization.slice(0, authorization.lastIndexOf("_"))}_***`;
  return authorization.replace(/^(\S+ +)?.*$/s, "$1***");
}
