/** A herd against a limit, over real sockets, judged on the service's log alone. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Client, path } from "../../src/index.ts";
import { type RunningEmulator, startEmulator } from "../../src/testing/node.ts";

const HERD = 300;
const LIMIT = 50;
const WINDOW_MS = 2_000;
const MAX_CONCURRENCY = 10;
/** What passes until a client has read an answer, and its next request has come. */
const TRANSIT_MS = 30;
/** A window opens with its first request, so the last of the six needs no waiting for. */
const IDEAL_MS = (HERD / LIMIT - 1) * WINDOW_MS;

type Requests = RunningEmulator["emulator"]["requests"];

const herds = [
  {
    method: "GET",
    call: (client: Client, index: number) => client.request({ method: "GET", path: path`/projects`, query: { limit: index + 1 } }),
    numberOf: ({ query }: Requests[number]) => Number(query["limit"]) - 1,
    created: 0,
  },
  {
    method: "POST",
    call: (client: Client, index: number) => client.issues.create("web", { title: String(index), type: "bug" }),
    numberOf: ({ body }: Requests[number]) => Number((body as { title: string }).title), // which this test sends
    created: HERD,
  },
];

// Jitter at its mean: the wall time is then a property of the gate.
beforeAll(() => void vi.spyOn(Math, "random").mockReturnValue(0.5));
afterAll(() => void vi.restoreAllMocks());

describe.concurrent("300 calls at once against 50 per 2 s", () => {
  test.each(herds)("$method", { timeout: 30_000 }, async ({ call, numberOf, created }) => {
    await using service = await startEmulator({
      projects: [{ name: "web" }],
      rateLimit: { limit: LIMIT, windowMs: WINDOW_MS },
      now: () => performance.now(),
    });
    const { requests, issues } = service.emulator;
    const client = new Client({ baseUrl: service.baseUrl, token: service.token, maxConcurrency: MAX_CONCURRENCY });

    const startedAt = performance.now();
    const settled = await Promise.allSettled(Array.from({ length: HERD }, (_, index) => call(client, index)));
    const took = performance.now() - startedAt;

    expect(settled.filter(({ status }) => status === "rejected")).toEqual([]);
    expect(issues.list("web")).toHaveLength(created);

    const refusals = requests.filter(({ status }) => status === 429);
    const accepted = requests.filter(({ status }) => status !== 429);
    expect(accepted).toHaveLength(HERD);
    // One a window: between two refusals, a whole window's worth was let through.
    const perWindow = [...refusals.map(({ index }) => index), requests.length].map(
      (end, nth, ends) => requests.slice(nth === 0 ? 0 : ends[nth - 1], end).filter(({ status }) => status !== 429).length,
    );
    expect(perWindow).toEqual(Array.from({ length: HERD / LIMIT }, () => LIMIT));

    for (const { at, endedAt = at } of refusals) {
      const tooEarly = requests.filter((request) => request.at > endedAt + TRANSIT_MS && request.at < at + WINDOW_MS);
      expect(tooEarly, "requests while the pause ran").toEqual([]);
    }
    expect(Math.max(...requests.map(({ inFlight }) => inFlight))).toBeLessThan(MAX_CONCURRENCY);
    // After a pause, one goes ahead: the next has come only after it was answered.
    for (const { index } of refusals) {
      const [probe, second] = requests.slice(index + 1);
      expect(second?.at).toBeGreaterThanOrEqual(probe?.endedAt ?? Number.POSITIVE_INFINITY);
    }
    const order = accepted.map(numberOf);
    const inversions = order.map((number, position) => Math.abs(number - position));
    expect(Math.max(...inversions), "places lost in line").toBeLessThan(MAX_CONCURRENCY);

    expect(took).toBeGreaterThanOrEqual(IDEAL_MS);
    expect(took).toBeLessThan(IDEAL_MS * 1.1);
    console.log(`${accepted.length} completed, ${refusals.length} refused, ${Math.round(took)} ms, ideal ${IDEAL_MS} ms`);
  });
});
