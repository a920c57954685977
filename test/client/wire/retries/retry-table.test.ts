/** The retry table through a scripted `fetch`, for each method: how many requests, the waits between them, the error. */
import { describe, expect, test } from "vitest";
import { type Client, isAutomationError, path } from "../../../../src/client/index.ts";
import { ended, fakeTime } from "../../../support/fake-time.ts";
import {
  bodyThat,
  good,
  never,
  neverConnects,
  type Reply,
  responds,
  throws,
  tooMany,
} from "../../../support/replies.ts";
import {
  type Failure,
  type Family,
  outcomeFor,
  RETRY_ROWS,
  type RetryRow,
  RULES,
  reactionTo,
} from "../../../support/retry-table.ts";
import { scriptedFetch } from "../../../support/scripted-fetch.ts";

fakeTime();

const ATTEMPTS = 4;
const MIN_DELAY_MS = 500;
const MAX_DELAY_MS = 1_500;
const TIMEOUT_MS = 2_000;

interface Method {
  readonly method: string;
  readonly family: Family;
  readonly rotatesToken?: true;
  readonly call: (client: Client) => Promise<unknown>;
}

/** With a schema, a body is due. */
const anything = { "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) } } as const;

/** Each family by a resource or by `request`. The decision is made of the method alone: `unit/call/retry.test.ts` has each. */
const methods: readonly Method[] = [
  { method: "GET", family: "safe", call: (client) => client.sessions.get("ses_1") },
  {
    method: "DELETE (request)",
    family: "delete",
    call: (client) => client.request({ method: "DELETE", path: path`/x` }),
  },
  { method: "POST", family: "write", call: (client) => client.issues.create("web", { title: "Title", type: "bug" }) },
  {
    method: "rotate (request)",
    family: "write",
    rotatesToken: true,
    call: (client) => client.request({ method: "POST", path: path`/me/tokens/${"tok_1"}/rotate`, schema: anything }),
  },
];

function replyOf(failure: Failure): Reply {
  if ("rejection" in failure) return throws(failure.rejection);
  if ("connecting" in failure) return neverConnects(failure.connecting);
  if ("breaks" in failure) return bodyThat("breaks", failure.first);
  if ("stalls" in failure) return failure.stalls === "headers" ? never : bodyThat("stalls", failure.first);
  const { status, retryAfterSeconds, body } = failure;
  return responds(status, retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }, body);
}

/** How long an attempt takes until it fails. */
function durationOf(failure: Failure): number {
  return "stalls" in failure ? TIMEOUT_MS : 0;
}

/** The bounds of the wait before a retry. */
function waitBefore({ rule, failure }: RetryRow, retry: number): readonly [leastMs: number, mostMs: number] {
  if (rule.wait === "retry_after" && "retryAfterSeconds" in failure) {
    const askedMs = (failure.retryAfterSeconds ?? 0) * 1_000;
    return [askedMs, askedMs * 1.1];
  }
  const full = Math.min(MIN_DELAY_MS * 2 ** retry, MAX_DELAY_MS);
  return [full / 2, full];
}

const cases = RETRY_ROWS.flatMap((row) => methods.map((method) => ({ ...method, row, name: row.name })));

describe.each([
  { unsafeWrites: false, table: cases },
  { unsafeWrites: true, table: cases.filter(({ family }) => family === "write") },
])("unsafeWrites: $unsafeWrites", ({ unsafeWrites, table }) => {
  const options = {
    timeoutMs: TIMEOUT_MS,
    retry: { attempts: ATTEMPTS, minDelayMs: MIN_DELAY_MS, maxDelayMs: MAX_DELAY_MS, unsafeWrites },
  };

  test.each(table)("$name: $method", async ({ row, family, call, rotatesToken = false }) => {
    const reaction = reactionTo(row.rule, family, { unsafeWrites: unsafeWrites && !rotatesToken });
    const durationMs = durationOf(row.failure);
    const service = scriptedFetch(replyOf(row.failure));
    const { error, tookMs } = await ended(call(service.client(options)));
    if (reaction === "succeed") {
      expect(error).toBeUndefined();
      expect(service.sent).toHaveLength(1);
      return;
    }
    const attempts = reaction === "retry" ? ATTEMPTS : 1;
    expect(service.sent).toHaveLength(attempts);
    if (!isAutomationError(error)) throw error;
    expect(error).toMatchObject({ kind: row.kind, attempts });
    expect(error.outcome).toBe(outcomeFor(family, row.outcome));
    service.sent.slice(1).forEach(({ at, method, url, body, headers }, retry) => {
      const before = service.sent[retry];
      const waitedMs = at - (before?.at ?? 0) - durationMs;
      const [leastMs, mostMs] = waitBefore(row, retry);
      expect(waitedMs).toBeGreaterThanOrEqual(leastMs);
      expect(waitedMs).toBeLessThanOrEqual(mostMs + 5); // timers are rounded up
      expect({ method, url, body }).toEqual({ method: before?.method, url: before?.url, body: before?.body });
      expect([...headers]).toEqual([...(before?.headers ?? [])]);
    });
    const lastAt = (service.sent.at(-1)?.at ?? 0) - (service.sent[0]?.at ?? 0);
    expect(tookMs).toBeLessThanOrEqual(lastAt + durationMs + 5);
  });

  const retried = table.filter(
    ({ row, family, rotatesToken = false }) =>
      reactionTo(row.rule, family, { unsafeWrites: unsafeWrites && !rotatesToken }) === "retry",
  );
  test.each(retried.slice(0, 2))("$name, then a good response: $method", async ({ row, call }) => {
    const service = scriptedFetch(replyOf(row.failure), good);
    const { error } = await ended(call(service.client(options)));
    expect(error).toBeUndefined();
    expect(service.sent).toHaveLength(2);
  });
});

test.each(RETRY_ROWS.slice(0, 2))("retry: false sends once: $name", async ({ failure }) => {
  const service = scriptedFetch(replyOf(failure));
  const { error } = await ended(service.client({ timeoutMs: TIMEOUT_MS, retry: false }).sessions.get("ses_1"));
  expect(service.sent).toHaveLength(1);
  expect(isAutomationError(error)).toBe(true);
});

describe("every method waits for a 429 and is sent again", () => {
  test.each(methods)("$method", async ({ call, family }) => {
    expect(RULES.rateLimited.reaction[family]).toBe("retry");
    const service = scriptedFetch(tooMany(2), tooMany(3), good);
    const { error } = await ended(call(service.client()));
    expect(error).toBeUndefined();
    const [first, second, third] = service.sent;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(2_000);
    expect((third?.at ?? 0) - (second?.at ?? 0)).toBeGreaterThanOrEqual(3_000);
    expect(new Set(service.sent.map(({ body, headers }) => JSON.stringify([body, ...headers]))).size).toBe(1);
  });
});
