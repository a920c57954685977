/** Many calls against a limit, over real sockets, judged by the log of the service. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Client, path } from "../../src/index.ts";
import { startEmulator } from "../../src/testing/node.ts";

const HERD = 300;
const LIMIT = 50;
const WINDOW_MS = 2_000;
const MAX_CONCURRENCY = 10;
/** The time until a client has read a response and its next request has arrived. */
const TRANSIT_MS = 30;

const herds = [
  {
    method: "GET",
    call: (client: Client, number: number) =>
      client.request({ method: "GET", path: path`/projects` }, { headers: { "x-number": String(number) } }),
    created: 0,
  },
  {
    method: "POST",
    call: (client: Client, number: number) =>
      client.issues.create("web", { title: "One", type: "bug" }, { headers: { "x-number": String(number) } }),
    created: HERD,
  },
];

// Jitter at its mean: the wall time is then a property of the gate.
beforeAll(() => void vi.spyOn(Math, "random").mockReturnValue(0.5));
afterAll(() => void vi.restoreAllMocks());

describe.concurrent("300 calls at once against 50 per 2 s", () => {
  test.each(herds)("$method", { timeout: 30_000 }, async ({ call, created }) => {
    await using service = await startEmulator({
      projects: [{ name: "web" }],
      rateLimit: { limit: LIMIT, windowMs: WINDOW_MS },
      now: () => performance.now(),
    });
    const { requests, issues } = service.emulator;
    const sent: number[] = [];
    /** When timers of exactly the requested waits fired, which on a busy machine is late. */
    const over: number[] = [];
    const asked: number[] = [];
    const client = new Client({
      baseUrl: service.baseUrl,
      token: service.token,
      maxConcurrency: MAX_CONCURRENCY,
      fetch: async (url, init) => {
        sent.push(Number(new Headers(init.headers).get("x-number")));
        const response = await fetch(url, init);
        const askedMs = Number(response.headers.get("retry-after")) * 1_000;
        if (response.status === 429) {
          asked.push(askedMs);
          setTimeout(() => over.push(performance.now()), askedMs);
        }
        return response;
      },
    });

    const startedAt = performance.now();
    const settled = await Promise.allSettled(Array.from({ length: HERD }, (_, index) => call(client, index)));
    const took = performance.now() - startedAt;

    expect(settled.filter(({ status }) => status === "rejected")).toEqual([]);
    expect(issues.list("web")).toHaveLength(created);

    const refusals = requests.filter(({ status }) => status === 429);
    const accepted = requests.filter(({ status }) => status !== 429);
    expect(accepted).toHaveLength(HERD);
    // One 429 a window: between two of them a full window of requests succeeded.
    const perWindow = [...refusals.map(({ index }) => index), requests.length].map(
      (end, nth, ends) =>
        requests.slice(nth === 0 ? 0 : ends[nth - 1], end).filter(({ status }) => status !== 429).length,
    );
    expect(perWindow).toEqual(Array.from({ length: HERD / LIMIT }, () => LIMIT));

    for (const [nth, { at, endedAt = at }] of refusals.entries()) {
      // A window that took longer on a busy machine asks for a shorter wait.
      const pausedUntil = at + (asked[nth] ?? Number.NaN);
      const tooEarly = requests.filter((request) => request.at > endedAt + TRANSIT_MS && request.at < pausedUntil);
      expect(tooEarly, "requests while the pause ran").toEqual([]);
    }
    expect(Math.max(...requests.map(({ inFlight }) => inFlight))).toBeLessThan(MAX_CONCURRENCY);
    // After a pause one request is sent ahead; the next one is sent after its response.
    for (const { index } of refusals) {
      const [probe, second] = requests.slice(index + 1);
      expect(second?.at).toBeGreaterThanOrEqual(probe?.endedAt ?? Number.POSITIVE_INFINITY);
    }
    // In order: each call is first sent after all earlier ones; one that got a 429 is the next to be sent again.
    expect([...new Set(sent)]).toEqual(Array.from({ length: HERD }, (_, index) => index));
    expect(sent).toHaveLength(requests.length);
    for (const { index } of refusals) expect(sent[index + 1]).toBe(sent[index]);

    // Ideal: the requests of every window as fast as this service accepted them, and the requested pauses as timers keep them.
    const windows = [0, ...refusals.map(({ index }) => index + 1)].map((start, nth) => {
      const end = (refusals[nth] ?? requests.at(-1))?.endedAt ?? Number.NaN;
      return end - (requests[start]?.at ?? Number.NaN);
    });
    const pauses = refusals.map(({ endedAt }, nth) => (over[nth] ?? Number.NaN) - (endedAt ?? Number.NaN));
    expect(took).toBeLessThan([...windows, ...pauses].reduce((sum, ms) => sum + ms, 0) * 1.1);
    // No pause is longer than requested, except for the jitter.
    expect(over).toHaveLength(refusals.length);
    for (const [nth, { index }] of refusals.entries()) {
      expect(requests[index + 1]?.at, `after pause ${nth + 1}`).toBeLessThan((over[nth] ?? 0) + WINDOW_MS / 10);
    }
  });
});
