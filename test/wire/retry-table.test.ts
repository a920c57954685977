/** The retry table of the public promise, row by row, for each method: how often, how long between, and what is told. */
import { describe, expect, test } from "vitest";
import { type AnyAutomationError, type Client, isAutomationError, type Outcome, path } from "../../src/index.ts";
import { ended, fakeTime } from "../support/fake-time.ts";
import { bodyThat, fetchFailed, good, never, type Reply, responds, throws, tooMany } from "../support/replies.ts";
import { scriptedFetch } from "../support/scripted-fetch.ts";

fakeTime();

const ATTEMPTS = 4;
const MIN_DELAY_MS = 500;
const MAX_DELAY_MS = 1_500;
const TIMEOUT_MS = 2_000;

type Family = "safe" | "delete" | "write";

const methods: readonly { name: string; family: Family; unsafe?: "no"; call: (client: Client) => Promise<unknown> }[] =
  [
    { name: "GET", family: "safe", call: (client) => client.sessions.get("ses_1") },
    { name: "GET (request)", family: "safe", call: (client) => client.request({ method: "GET", path: path`/x` }) },
    { name: "DELETE", family: "delete", call: (client) => client.tokens.revoke("tok_1") },
    {
      name: "DELETE (request)",
      family: "delete",
      call: (client) => client.request({ method: "DELETE", path: path`/x` }),
    },
    { name: "POST", family: "write", call: (client) => client.issues.create("web", { title: "Title", type: "bug" }) },
    {
      name: "PUT",
      family: "write",
      call: (client) => client.request({ method: "PUT", path: path`/x`, json: { a: 1 } }),
    },
    {
      name: "PATCH",
      family: "write",
      call: (client) => client.request({ method: "PATCH", path: path`/x`, json: [1] }),
    },
    { name: "rotate", family: "write", unsafe: "no", call: (client) => client.tokens.rotate("tok_1") },
  ];

/** Backs off and is sent again; is not; or is as good as done. */
type Does = "again" | "never" | "done";

interface Row {
  readonly what: string;
  readonly reply: Reply;
  readonly does: Readonly<Record<Family, Does>>;
  /** With `unsafeWrites`. Default: as without. */
  readonly unsafe?: Does;
  readonly kind: AnyAutomationError["kind"];
  readonly outcome: Outcome;
  /** How long each attempt takes by itself. */
  readonly lastsMs?: number;
  /** Bounds of the wait after a failure. Default: backoff. */
  readonly waits?: (nth: number) => readonly [number, number];
}

const IDEMPOTENT = { safe: "again", delete: "again", write: "never" } as const;
const EVERYTHING = { safe: "again", delete: "again", write: "again" } as const;
const NOTHING = { safe: "never", delete: "never", write: "never" } as const;
const AFTER_2XX = { safe: "again", delete: "done", write: "never" } as const;
const UNREADABLE = { safe: "never", delete: "done", write: "never" } as const;

function backoff(nth: number): readonly [number, number] {
  const full = Math.min(MIN_DELAY_MS * 2 ** nth, MAX_DELAY_MS);
  return [full / 2, full];
}

const transient = (code: number): Row => ({
  what: String(code),
  reply: responds(code),
  does: IDEMPOTENT,
  unsafe: "again",
  kind: code < 500 ? "api" : "server",
  outcome: "unknown",
});
const final = (code: number, kind: Row["kind"], outcome: Outcome = "rejected"): Row => ({
  what: String(code),
  reply: responds(code, { "retry-after": "1" }),
  does: NOTHING,
  kind,
  outcome,
});
const neverSent = (what: string, error: () => unknown): Row => ({
  what,
  reply: throws(error),
  does: EVERYTHING,
  kind: "connection",
  outcome: "not_sent",
});
const lost = (what: string, error: () => unknown): Row => ({
  what,
  reply: throws(error),
  does: IDEMPOTENT,
  unsafe: "again",
  kind: "connection",
  outcome: "unknown",
});
const refusedByPlatform = (what: string, error: () => unknown, outcome: Outcome): Row => ({
  what,
  reply: throws(error),
  does: NOTHING,
  kind: "connection",
  outcome,
});
const code = (name: string, more?: object) => (): TypeError => fetchFailed(name, more);
const dualStack = (): TypeError => {
  const errors = ["::1", "127.0.0.1"].map((address) => Object.assign(new Error(), { code: "ECONNREFUSED", address }));
  return new TypeError("fetch failed", { cause: new AggregateError(errors) });
};

const rows: readonly Row[] = [
  {
    what: "503 with Retry-After",
    reply: responds(503, { "retry-after": "3" }),
    does: IDEMPOTENT,
    unsafe: "again",
    kind: "server",
    outcome: "unknown",
    waits: () => [3_000, 3_300],
  },
  ...[408, 500, 502, 503, 504, 520, 522, 524, 529].map(transient),
  ...[402, 405, 413, 418, 423, 425, 428, 451].map((status) => final(status, "api")),
  ...([400, 422] as const).map((status) => final(status, "bad_request")),
  final(403, "permission"),
  final(404, "not_found"),
  final(409, "conflict"),
  final(401, "auth"),
  ...[501, 505, 511, 599].map((status) => final(status, "server", "unknown")),
  ...[300, 301, 302, 303, 304, 307, 308].map((status) => final(status, "redirect")),
  ...["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ENETUNREACH", "EHOSTUNREACH", "UND_ERR_CONNECT_TIMEOUT"].map((name) =>
    neverSent(name, code(name)),
  ),
  neverSent("ETIMEDOUT while connecting", code("ETIMEDOUT", { syscall: "connect" })),
  neverSent("ECONNREFUSED on both stacks", dualStack),
  ...["ECONNRESET", "EPIPE", "ETIMEDOUT", "UND_ERR_SOCKET", "HPE_INVALID_CONSTANT"].map((name) =>
    lost(name, code(name)),
  ),
  lost("a browser's: Failed to fetch", () => new TypeError("Failed to fetch")),
  lost("a browser's: NetworkError", () => new TypeError("NetworkError when attempting to fetch resource.")),
  // Safari's network errors have no stack, by which they are told from others.
  lost("a browser's: Load failed", () => Object.assign(new TypeError("Load failed"), { stack: undefined })),
  ...["CERT_HAS_EXPIRED", "DEPTH_ZERO_SELF_SIGNED_CERT", "ERR_TLS_CERT_ALTNAME_INVALID"].map((name) =>
    refusedByPlatform(name, code(name), "not_sent"),
  ),
  refusedByPlatform("a string", () => "no", "unknown"),
  refusedByPlatform("a plain object", () => ({ no: true }), "unknown"),
  refusedByPlatform("a TypeError of somebody's", () => new TypeError("x is not a function"), "unknown"),
  {
    what: "attempt timeout",
    reply: never,
    does: IDEMPOTENT,
    unsafe: "again",
    kind: "timeout",
    outcome: "unknown",
    lastsMs: TIMEOUT_MS,
  },
  { what: "body lost", reply: bodyThat("breaks"), does: AFTER_2XX, kind: "connection", outcome: "accepted" },
  {
    what: "body stalled",
    reply: bodyThat("stalls"),
    does: AFTER_2XX,
    kind: "timeout",
    outcome: "accepted",
    lastsMs: TIMEOUT_MS,
  },
  {
    what: "2xx that is not JSON",
    reply: responds(200, {}, "<p>"),
    does: UNREADABLE,
    kind: "parse",
    outcome: "accepted",
  },
];

const cases = rows.flatMap((row) => methods.map((method) => ({ ...row, ...method })));
const unsafeCases = cases.filter(({ family }) => family === "write");

describe.each([
  { unsafeWrites: false, table: cases },
  { unsafeWrites: true, table: unsafeCases },
])("unsafeWrites: $unsafeWrites", ({ unsafeWrites, table }) => {
  const options = {
    timeoutMs: TIMEOUT_MS,
    retry: { attempts: ATTEMPTS, minDelayMs: MIN_DELAY_MS, maxDelayMs: MAX_DELAY_MS, unsafeWrites },
  };

  test.each(table)(
    "$what: $name",
    async ({ reply, family, call, kind, outcome, waits = backoff, lastsMs = 0, ...row }) => {
      const does = unsafeWrites && row.unsafe && row.unsafe !== "no" ? row.unsafe : row.does[family];
      const service = scriptedFetch(reply);
      const { error, tookMs } = await ended(call(service.client(options)));
      if (does === "done") {
        expect(error).toBeUndefined();
        expect(service.sent).toHaveLength(1);
        return;
      }
      const requests = does === "again" ? ATTEMPTS : 1;
      expect(service.sent).toHaveLength(requests);
      if (!isAutomationError(error)) throw error;
      expect(error).toMatchObject({ kind, outcome, attempts: requests });
      service.sent.slice(1).forEach(({ at, ...again }, nth) => {
        const before = service.sent[nth];
        const waited = at - (before?.at ?? 0) - lastsMs;
        const [least, most] = waits(nth);
        expect(waited).toBeGreaterThanOrEqual(least);
        expect(waited).toBeLessThanOrEqual(most + 5); // timers are rounded up
        expect(again).toMatchObject({
          method: before?.method,
          url: before?.url,
          body: before?.body,
        });
        expect([...again.headers]).toEqual([...(before?.headers ?? [])]);
      });
      expect(tookMs).toBeLessThanOrEqual((service.sent.at(-1)?.at ?? 0) - (service.sent[0]?.at ?? 0) + lastsMs + 5);
    },
  );

  test.each(table.filter(({ does, family }) => does[family] === "again"))("$what, then well: $name", async (row) => {
    const service = scriptedFetch(row.reply, good);
    const { error } = await ended(row.call(service.client(options)));
    expect(error).toBeUndefined();
    expect(service.sent).toHaveLength(2);
  });
});

test.each(cases)("retry: false sends once: $what: $name", async ({ reply, call, does, family }) => {
  const service = scriptedFetch(reply);
  const { error } = await ended(call(service.client({ timeoutMs: TIMEOUT_MS, retry: false })));
  expect(service.sent).toHaveLength(1);
  expect(isAutomationError(error)).toBe(does[family] !== "done");
});

describe("429 is for every method", () => {
  test.each(methods)("$name", async ({ call }) => {
    const service = scriptedFetch(tooMany(2), tooMany(3), good);
    const { error } = await ended(call(service.client()));
    expect(error).toBeUndefined();
    const [first, second, third] = service.sent;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(2_000);
    expect((third?.at ?? 0) - (second?.at ?? 0)).toBeGreaterThanOrEqual(3_000);
    expect(new Set(service.sent.map(({ body, headers }) => JSON.stringify([body, ...headers]))).size).toBe(1);
  });
});
