/**
 * The outcomes of a write, as data: the one table behind `docs/errors.md` (scripts/generated-pages.ts prints it there) and a
 * test, which runs each row (`test/client/wire/errors/outcome-table.test.ts`). It imports nothing of a platform.
 */
import type { BulkState } from "../../src/bulk/index.ts";
import type { Outcome } from "../../src/client/index.ts";
import { fetchFailed } from "./fetch-errors.ts";

/** What a write meets: a response, one whose body ends early, or none. */
export type Incident =
  | { readonly status: number; readonly body?: string; readonly url?: string }
  | { readonly status: number; readonly first: string; readonly body: "breaks" | "stalls" }
  | { readonly rejection: () => unknown }
  /** The connection fails with this code, as the platform shows. */
  | { readonly connecting: string }
  | { readonly never: "timeout" | "abort" };

/** One row. */
export interface OutcomeRow {
  /** What happened to the write, in the document. */
  readonly happened: string;
  readonly outcome: Outcome;
  /** The state of an item of a bulk write. */
  readonly state: BulkState;
  readonly incidents: readonly Incident[];
}

/** Whether to send a write again, by its outcome. */
export const SEND_AGAIN: Readonly<Record<Outcome, string>> = {
  not_sent: "yes",
  rejected: "once its reason is gone",
  unknown: "look first",
  accepted: "no",
};

const OF_SERVICE = '{"error":"said","message":"no"}';
const OF_A_PROXY = ["<html>no</html>", "", '{"message":"no"}'];
const ITEM = [400, 409, 413, 415, 422];
const OTHER_REFUSALS = [401, 402, 403, 404, 405, 406, 407, 410, 411, 417, 421, 423, 425, 426, 428, 429, 431, 451, 494];
/** The words of a connection that was refused are no evidence. */
const NO_RESPONSE = ["ECONNRESET", "UND_ERR_SOCKET", "ECONNREFUSED"];

const responses = (statuses: readonly number[], ...bodies: readonly string[]): Incident[] =>
  statuses.flatMap((status) => bodies.map((body) => ({ status, body })));
const failures = (codes: readonly string[]): Incident[] =>
  codes.map((code) => ({ rejection: () => fetchFailed(code) }));
const cut = (...firsts: readonly string[]): Incident[] =>
  firsts.flatMap((first) => (["breaks", "stalls"] as const).map((body) => ({ status: 201, first, body })));

export const OUTCOMES: readonly OutcomeRow[] = [
  {
    happened: "no connection was made, as Node shows",
    outcome: "not_sent",
    state: "not_sent",
    incidents: [{ connecting: "ECONNREFUSED" }],
  },
  {
    happened: `${ITEM.slice(0, -1).join(", ")} or ${ITEM.at(-1)} of the service`,
    outcome: "rejected",
    state: "refused",
    incidents: responses(ITEM, OF_SERVICE),
  },
  {
    happened: "401 or 429; any other 4xx of the service but 408 and 499",
    outcome: "rejected",
    state: "not_sent",
    incidents: [...responses(OTHER_REFUSALS, OF_SERVICE), ...responses([401, 429], ...OF_A_PROXY)],
  },
  {
    happened:
      "5xx, 408, 499 or 3xx; any other 4xx of something else, such as a proxy; a redirect that your `fetch` has followed",
    outcome: "unknown",
    state: "unknown",
    incidents: [
      ...responses([300, 301, 302, 303, 304, 307, 308], ""),
      ...responses([...ITEM, ...OTHER_REFUSALS.filter((status) => status !== 401 && status !== 429)], ...OF_A_PROXY),
      ...responses([408, 499, 500, 501, 502, 503, 504, 511, 520, 599], OF_SERVICE, ...OF_A_PROXY),
      { status: 201, body: '{"number":1,"title":"One","status":"open"}', url: "https://login.example/" },
    ],
  },
  {
    happened:
      "no response: the connection was lost, or refused and the platform does not show it; or a time limit or your signal ended the call",
    outcome: "unknown",
    state: "unknown",
    incidents: [...failures(NO_RESPONSE), { never: "timeout" }, { never: "abort" }],
  },
  {
    happened: "2xx of something else: a page, words, or no body where one is due",
    outcome: "unknown",
    state: "unknown",
    incidents: responses([200, 201, 204], "<html>maintenance</html>", "OK", "", " \n"),
  },
  {
    happened: "2xx, and its body ended early, before its first character or as a page",
    outcome: "unknown",
    state: "unknown",
    incidents: cut("", " ", "<htm"),
  },
  {
    happened: "2xx of the service whose body is cut, or of another shape",
    outcome: "accepted",
    state: "unknown",
    incidents: [
      ...cut("{", '{"number":1,"tit'),
      ...responses([200, 201], "{", '{"status":"ok"}', "null", "[]", '{"a":1}{"b":2}'),
    ],
  },
];
