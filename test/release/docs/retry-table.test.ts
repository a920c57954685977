/** The table in docs/retries.md is the retry table, and the client does what it says: every row, for every column. */
import { describe, expect, test } from "vitest";
import { type CallOptions, Client, path } from "../../../src/client/index.ts";
import { SCOPES } from "../../../src/service/scopes.ts";
import { createEmulator, type Emulator, type Fault } from "../../../src/testing/index.ts";
import { notConnecting, responds } from "../../support/replies.ts";
import { type Family, RETRY_ROWS, type Reaction, RULES, type Rule } from "../../support/retry-table.ts";
import { scriptedFetch } from "../../support/scripted-fetch.ts";
import { tableOf } from "./tables.ts";

/** What happens to the first request of a call. */
interface Incident {
  readonly name: string;
  readonly rule: Rule;
  readonly fault?: Fault;
  /** `fetch` rejects with it. */
  readonly rejection?: () => unknown;
  /** The connection fails with this code, as the platform shows. */
  readonly connecting?: string;
  readonly options?: CallOptions;
  readonly aborts?: true;
  /** The token provider has another token. */
  readonly hasOtherToken?: true;
}

/** No response. The status keeps the emulator from doing what was asked: a second deletion would find nothing. */
const SILENCE: Fault = { status: 500, delayMs: Number.POSITIVE_INFINITY };
const SHORT_MS = 30;
/** The time of a Retry-After is the subject of other tests. */
const AT_ONCE = { "retry-after": "0" };

const incidents: readonly Incident[] = [
  { name: "429", rule: RULES.rateLimited, fault: { status: 429, headers: AT_ONCE } },
  { name: "429 of HTML", rule: RULES.rateLimited, fault: { status: 429, headers: AT_ONCE, body: "<html>" } },
  { name: "401", rule: RULES.otherToken, fault: { status: 401 }, hasOtherToken: true },
  { name: "dropped connection", rule: RULES.connectionLost, fault: { drop: "before" } },
  { name: "another shape", rule: RULES.otherShape, fault: { status: 200, body: { id: 1 } } },
  { name: "abort", rule: RULES.aborted, fault: SILENCE, aborts: true },
  { name: "totalTimeoutMs", rule: RULES.totalTimeout, fault: SILENCE, options: { totalTimeoutMs: SHORT_MS } },
  ...RETRY_ROWS.flatMap(({ name, rule, failure }): Incident[] => {
    if ("rejection" in failure) return [{ name, rule, rejection: failure.rejection }];
    if ("connecting" in failure) return [{ name, rule, connecting: failure.connecting }];
    // The emulator cuts a body behind its first byte at the earliest.
    if ("breaks" in failure) {
      if (failure.first.trim() === "") return [];
      return [{ name, rule, fault: { status: 200, body: { id: "x" }, cutAfterBytes: 3 } }];
    }
    // The emulator has no fault that stops within a body; a broken body is the same row of the document.
    if ("stalls" in failure && failure.stalls === "body") return [];
    if ("stalls" in failure) return [{ name, rule, fault: SILENCE, options: { timeoutMs: SHORT_MS } }];
    const { retryAfterSeconds, ...response } = failure;
    return [{ name, rule, fault: retryAfterSeconds === undefined ? response : { ...response, headers: AT_ONCE } }];
  }),
];

type Call = (client: Client, emulator: Emulator) => (options: CallOptions) => Promise<unknown>;

const columns: readonly { readonly heading: string; readonly family: Family; readonly call: Call }[] = [
  { heading: "`GET`, `HEAD`", family: "safe", call: (client) => (options) => client.sessions.get("ses_1", options) },
  {
    heading: "`DELETE`",
    family: "delete",
    call: (client, emulator) => {
      const { id } = emulator.createToken({ scopes: ["projects:read"] });
      return (options) => client.tokens.revoke(id, options);
    },
  },
  {
    heading: "`POST`, `PUT`, `PATCH`",
    family: "write",
    call: (client) => (options) => client.issues.create("web", { title: "It breaks", type: "bug" }, options),
  },
];

const { head: headings, rows } = tableOf("docs/retries.md", "what happened");

function reactionIn(cell: string): Reaction {
  if (/^(no|never)\b/.test(cell)) return "fail";
  if (cell === "success") return "succeed";
  if (/\bresend\b/.test(cell)) return "retry";
  throw new Error(`a cell without a reaction: ${cell}`);
}

/** How many requests a call sends whose first one fails, and whether the call succeeds. */
async function run(
  { fault, rejection, connecting, options, aborts, hasOtherToken }: Incident,
  call: Call,
): Promise<object> {
  const emulator = createEmulator({ projects: [{ name: "web", sessions: [{ id: "ses_1" }] }] });
  const other = emulator.createToken({ scopes: SCOPES }).plaintext;
  const controller = new AbortController();
  let requests = 0;
  const client = new Client({
    baseUrl: emulator.baseUrl,
    token: hasOtherToken ? ({ rejected }) => (rejected === undefined ? emulator.token : other) : emulator.token,
    retry: { minDelayMs: 0 },
    fetch: (input, init) => {
      requests += 1;
      if (aborts) setTimeout(() => controller.abort(), 5);
      if (requests > 1) return emulator.fetch(input, init);
      if (connecting !== undefined) return notConnecting(connecting)(input, init);
      return rejection === undefined ? emulator.fetch(input, init) : Promise.reject(rejection());
    },
  });
  const send = call(client, emulator);
  if (fault !== undefined) emulator.fault(fault);
  const [{ status }] = await Promise.allSettled([send({ ...options, signal: controller.signal })]);
  return { requests, succeeds: status === "fulfilled" };
}

describe("docs/retries.md, what is retried", () => {
  test("has a row for each rule, and a column for each family of methods", () => {
    expect(rows.map(([row]) => row)).toEqual([...new Set(Object.values(RULES).map(({ documented }) => documented))]);
    expect(headings.slice(1)).toEqual(columns.map(({ heading }) => heading));
  });

  const cells = rows.flatMap(([row = "", ...words]) =>
    columns.map((column, index) => ({ ...column, row, words: words[index] ?? "" })),
  );
  test.each(cells)("$row, $heading: $words", async ({ row, words, family, call }) => {
    const reaction = reactionIn(words);
    const expected = { requests: reaction === "retry" ? 2 : 1, succeeds: reaction !== "fail" };
    const ofRow = incidents.filter(({ rule }) => rule.documented === row);
    expect(ofRow).not.toEqual([]);
    for (const incident of ofRow) {
      expect(incident.rule.reaction[family]).toBe(reaction);
      expect({ incident, ...(await run(incident, call)) }).toEqual({ incident, ...expected });
    }
  });

  test("HEAD is retried as GET is, and PUT and PATCH as POST", async () => {
    const service = scriptedFetch(responds(500));
    const client = service.client({ retry: { minDelayMs: 0 } });
    for (const method of ["HEAD", "PUT", "PATCH"] as const) {
      await expect(client.request({ method, path: path`/x` })).rejects.toMatchObject({ kind: "server" });
    }
    expect(service.sent.map(({ method }) => method)).toEqual(["HEAD", "HEAD", "HEAD", "PUT", "PATCH"]);
  });
});
