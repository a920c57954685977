/** How long the client waits for a `Retry-After`. Each value is in `test/client/unit/call/retry-after.test.ts`. */
import { describe, expect, test, vi } from "vitest";
import { isAutomationError } from "../../../../src/client/index.ts";
import { ended, fakeTime } from "../../../support/fake-time.ts";
import { bodyThat, good, type Reply, responds, status, tooMany } from "../../../support/replies.ts";
import { scriptedFetch } from "../../../support/scripted-fetch.ts";

fakeTime();

/** The shortest and the longest pause without a usable header. */
const FALLBACK = [500, 551] as const;
const exactly = (ms: number): readonly [number, number] => [ms, ms + Math.min(ms / 10, 1_000)];
const DATE = "Sun, 06 Nov 1994 08:49:37 GMT";

interface Row {
  readonly value: string | undefined;
  readonly waits: readonly [number, number];
  /** The `Date` of the response. */
  readonly date?: string;
}

const rows: readonly Row[] = [
  { value: "2", waits: exactly(2_000) },
  { value: "0", waits: [0, 1] },
  { value: "Sun, 06 Nov 1994 08:49:40 GMT", date: DATE, waits: exactly(3_000) },
  { value: "soon", waits: FALLBACK },
  { value: undefined, waits: FALLBACK },
];

describe("a 429 is waited for", () => {
  test.each(rows)("$value, Date: $date", async ({ value, waits, date }) => {
    const headers = {
      ...(value === undefined ? {} : { "retry-after": value }),
      ...(date === undefined ? {} : { date }),
    };
    const service = scriptedFetch(responds(429, headers), good);
    const { error } = await ended(service.client().sessions.get("1"));
    expect(error).toBeUndefined();
    const [first, second] = service.sent;
    const waited = (second?.at ?? Number.NaN) - (first?.at ?? 0);
    expect(waited).toBeGreaterThanOrEqual(waits[0]);
    expect(waited).toBeLessThanOrEqual(waits[1] + 3); // timers are rounded up
  });

  test("a date without a Date header is compared with the local clock", async () => {
    vi.setSystemTime(new Date("2026-03-01T12:00:00Z"));
    const service = scriptedFetch(tooMany("Sun, 01 Mar 2026 12:00:04 GMT"), good);
    const { tookMs } = await ended(service.client().sessions.get("1"));
    expect(tookMs).toBeGreaterThanOrEqual(4_000);
    expect(tookMs).toBeLessThan(4_500);
  });

  test("more digits than a number has fail the call at once", async () => {
    const service = scriptedFetch(tooMany("9".repeat(400)), good);
    const { error, tookMs } = await ended(service.client().sessions.get("1"));
    expect(tookMs).toBeLessThan(5);
    if (!isAutomationError(error)) throw error;
    expect(error.kind).toBe("rate_limit");
    expect(error.retryAfterMs).toBeGreaterThan(120_000);
    expect(error.retryAfterMs).toBeLessThan(Number.POSITIVE_INFINITY);
  });

  test.each([
    ["HTML", () => status(429, { "retry-after": "1", "content-type": "text/html" }, "<html>")],
    ["half a JSON", () => status(429, { "retry-after": "1" }, '{"err')],
  ] as const)("whatever its body: %s", async (_, reply) => {
    const service = scriptedFetch(reply, good);
    expect((await ended(service.client().sessions.get("1"))).error).toBeUndefined();
    const failing = scriptedFetch(reply);
    const { error } = await ended(failing.client({ retry: false }).sessions.get("1"));
    expect(error).toMatchObject({ kind: "rate_limit", status: 429, retryAfterMs: 1_000 });
    expect(error).not.toHaveProperty("code");
  });

  test.each(["stalls", "breaks"] as const)("without waiting for a body that %s", async (what) => {
    const endless: Reply = async (sent) => {
      const { body } = await bodyThat(what, "x", 200)(sent);
      return new Response(body, { status: 429, headers: { "retry-after": "1" } });
    };
    const service = scriptedFetch(endless, good);
    const { error, tookMs } = await ended(service.client().sessions.get("1"));
    expect(error).toBeUndefined();
    expect(tookMs).toBeLessThan(1_110);
  });
});

test("a retry is never earlier than requested; jitter is only added", async () => {
  const waits: number[] = [];
  for (let sample = 0; sample < 500; sample += 1) {
    const service = scriptedFetch(tooMany(2), good);
    await ended(service.client().sessions.get("1"));
    waits.push((service.sent[1]?.at ?? 0) - (service.sent[0]?.at ?? 0));
  }
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(2_000);
  expect(Math.max(...waits)).toBeLessThanOrEqual(2_202);
  expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(10);
});

test.each([0, 0.999_999])(
  "without a Retry-After the waits together span more than a window of a minute (random: %d)",
  async (random) => {
    vi.spyOn(Math, "random").mockReturnValue(random);
    const service = scriptedFetch(responds(429));
    const { error, tookMs } = await ended(service.client().sessions.get("1"));
    expect(error).toMatchObject({ kind: "rate_limit", attempts: 6 });
    expect(error).not.toHaveProperty("retryAfterMs");
    expect(tookMs).toBeGreaterThan(60_000);
    expect(tookMs).toBeLessThan(100_000);
  },
);

describe("a status that may pass", () => {
  test.each([408, 500, 502, 503, 529])("%i waits at least as long as requested", async (status) => {
    const service = scriptedFetch(responds(status, { "retry-after": "20" }), good);
    const { error, tookMs } = await ended(service.client().sessions.get("1"));
    expect(error).toBeUndefined();
    expect(tookMs).toBeGreaterThanOrEqual(20_000);
    expect(tookMs).toBeLessThanOrEqual(21_005);
  });

  test.each([
    ["over the cap", { retry: { maxRetryAfterMs: 19_000 } }, ": retry.maxRetryAfterMs is 19000 ms"],
    ["over what is left of the call", { totalTimeoutMs: 15_000 }, ""],
  ])("%s it fails now, with its retryAfterMs", async (_, options, limit) => {
    const service = scriptedFetch(responds(503, { "retry-after": "20" }), good);
    const { error, tookMs } = await ended(service.client().sessions.get("1", options));
    expect(error).toMatchObject({ kind: "server", retryAfterMs: 20_000, attempts: 1 });
    const { message } = error as Error;
    expect(message).toMatch(/^sessions\.get: 503/);
    expect(message.slice(message.indexOf("; "))).toBe(`; the service asks to wait 20 s${limit}`);
    expect(tookMs).toBeLessThan(5);
  });

  test("Retry-After of a success means nothing", async () => {
    const fine = scriptedFetch((sent) => {
      const response = good(sent);
      if (response instanceof Response) response.headers.set("retry-after", "60");
      return response;
    });
    const client = fine.client();
    await ended(client.sessions.get("1"));
    expect((await ended(client.sessions.get("2"))).tookMs).toBeLessThan(5);
  });
});

test("429s and failures are counted separately: 429, reset, 429, 503, 200", async () => {
  const reset: Reply = () => {
    throw new TypeError("fetch failed", { cause: Object.assign(new Error("reset"), { code: "ECONNRESET" }) });
  };
  const service = scriptedFetch(tooMany(1), reset, tooMany(1), responds(503), good);
  const { error, tookMs } = await ended(service.client().sessions.get("1"));
  expect(error).toBeUndefined();
  expect(service.sent).toHaveLength(5);
  expect(tookMs).toBeLessThan(6_000);
});

test("with fewer attempts 429s are still waited for", async () => {
  const service = scriptedFetch(tooMany(1), tooMany(1), good);
  expect((await ended(service.client({ retry: { attempts: 1 } }).sessions.get("1"))).error).toBeUndefined();
});

test("a wait is not charged to the attempt", async () => {
  const service = scriptedFetch(tooMany(5), good);
  expect((await ended(service.client({ timeoutMs: 1_000 }).sessions.get("1"))).error).toBeUndefined();
});
