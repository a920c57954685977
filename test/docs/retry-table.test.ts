/** The table in docs/retries.md is what the client does: each row is made to happen once, for each column. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type CallOptions, Client, path } from "../../src/index.ts";
import { SCOPES } from "../../src/scopes.ts";
import { createEmulator, type Emulator, type Fault } from "../../src/testing/index.ts";
import { root } from "./snippets.ts";

/** Something that happens to the first request: at the service, on the way there, or to the call. */
interface Happening {
  readonly fault?: Fault;
  /** The platform fails with this code, and nothing is sent. */
  readonly platformCode?: string;
  readonly options?: CallOptions;
  readonly abort?: true;
  readonly renews?: true;
}

const status = (...several: readonly number[]): Happening[] => several.map((one) => ({ fault: { status: one } }));
const codes = (...several: readonly string[]): Happening[] => several.map((platformCode) => ({ platformCode }));
/** Never answers, and does not do it: else a second deletion would find nothing. */
const SILENCE: Fault = { status: 500, delayMs: Number.POSITIVE_INFINITY };

const ROWS: Readonly<Record<string, readonly Happening[]>> = {
  "429, whatever its body": [
    { fault: { status: 429, headers: { "retry-after": "0" } } },
    { fault: { status: 429, headers: { "retry-after": "0" }, body: "<html>" } },
  ],
  "503 with a `Retry-After`": [{ fault: { status: 503, headers: { "retry-after": "0" } } }],
  "408, 500, 502, 503, 504, 520 to 529": status(408, 500, 502, 503, 504, 520, 524, 529),
  "401, and another token is available": [{ fault: { status: 401 }, renews: true }],
  "any other 4xx or 5xx, any 3xx": status(
    301,
    302,
    304,
    307,
    400,
    401,
    403,
    404,
    409,
    413,
    418,
    422,
    425,
    501,
    505,
    511,
  ),
  "no connection: refused, host unknown, unreachable": codes("ECONNREFUSED", "ENOTFOUND", "ENETUNREACH"),
  "the connection was lost, or the attempt reached `timeoutMs`": [
    { fault: { drop: "before" } },
    { fault: SILENCE, options: { timeoutMs: 30 } },
  ],
  "an invalid certificate, scheme or header": codes("CERT_HAS_EXPIRED", "DEPTH_ZERO_SELF_SIGNED_CERT"),
  "2xx, and then the body was lost": [{ fault: { status: 200, body: { id: "x" }, cutAfterBytes: 3 } }],
  "2xx that is not JSON, or of another shape": [
    { fault: { status: 200, body: "<html>" } },
    { fault: { status: 200, body: { id: 1 } } },
  ],
  "your signal, or `totalTimeoutMs`": [
    { fault: SILENCE, abort: true },
    { fault: SILENCE, options: { totalTimeoutMs: 30 } },
  ],
};

const COLUMNS: Readonly<Record<string, (client: Client, emulator: Emulator) => (options: CallOptions) => unknown>> = {
  "`GET`, `HEAD`": (client) => (options) => client.sessions.get("ses_1", options),
  "`DELETE`": (client, emulator) => {
    const { id } = emulator.createToken({ scopes: ["projects:read"] });
    return (options) => client.tokens.revoke(id, options);
  },
  "`POST`, `PUT`, `PATCH`": (client) => (options) =>
    client.issues.create("web", { title: "It breaks", type: "bug" }, options),
};

const document = readFileSync(join(root, "docs", "retries.md"), "utf8");
const [, table = ""] = /^## What is retried\n.*?^(\|.*?)\n\n/ms.exec(document) ?? [];
const [head = [], , ...rows] = table.split("\n").map((line) =>
  line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim()),
);

/** How many requests there are, and whether the call succeeds in the end, by the words of a cell. */
function promiseOf(cell: string): { requests: number; succeeds: boolean } {
  if (/^(no|never)\b/.test(cell)) return { requests: 1, succeeds: false };
  if (cell === "success") return { requests: 1, succeeds: true };
  if (/\bresend\b/.test(cell)) return { requests: 2, succeeds: true };
  throw new Error(`a cell that promises nothing: ${cell}`);
}

async function happen(happening: Happening, column: string): Promise<{ requests: number; succeeds: boolean }> {
  const { fault, platformCode, options, abort, renews } = happening;
  const emulator = createEmulator({ projects: [{ name: "web", sessions: [{ id: "ses_1" }] }] });
  const other = emulator.createToken({ scopes: SCOPES }).plaintext;
  const stop = new AbortController();
  let requests = 0;
  const client = new Client({
    baseUrl: emulator.baseUrl,
    token: renews ? ({ rejected }) => (rejected === undefined ? emulator.token : other) : emulator.token,
    retry: { minDelayMs: 0 },
    fetch: (input, init) => {
      requests += 1;
      if (abort) setTimeout(() => stop.abort(), 5);
      if (platformCode === undefined || requests > 1) return emulator.fetch(input, init);
      return Promise.reject(
        new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: platformCode }) }),
      );
    },
  });
  const call = COLUMNS[column]?.(client, emulator);
  if (call === undefined) throw new Error(`no call for the column ${column}`);
  if (fault !== undefined) emulator.fault(fault);
  const succeeds = await Promise.resolve(call({ ...options, signal: stop.signal })).then(
    () => true,
    () => false,
  );
  return { requests, succeeds };
}

describe("docs/retries.md, what is retried", () => {
  test("has a row for each happening, and a column for each call", () => {
    expect(rows.map(([row]) => row)).toEqual(Object.keys(ROWS));
    expect(head.slice(1)).toEqual(Object.keys(COLUMNS));
  });

  const cells = rows.flatMap(([row = "", ...promises]) =>
    promises.map((promise, index) => ({ row, column: head[index + 1] ?? "", promise })),
  );
  test.each(cells)("$row, $column: $promise", async ({ row, column, promise }) => {
    for (const happening of ROWS[row] ?? []) {
      expect({ happening, ...(await happen(happening, column)) }).toEqual({ happening, ...promiseOf(promise) });
    }
  });

  test("HEAD is as GET, and PUT and PATCH as POST", async () => {
    const sent: string[] = [];
    const client = new Client({
      baseUrl: "https://automation.example.com/api/v1",
      token: "pat_key_secret",
      retry: { minDelayMs: 0 },
      fetch: (_, { method = "" }) => {
        sent.push(method);
        return Promise.resolve(new Response("{}", { status: 500 }));
      },
    });
    for (const method of ["HEAD", "PUT", "PATCH"] as const) {
      await expect(client.request({ method, path: path`/x` })).rejects.toMatchObject({ kind: "server" });
    }
    expect(sent).toEqual(["HEAD", "HEAD", "HEAD", "PUT", "PATCH"]);
  });
});
