/** Many calls against a limit, over real sockets, judged by the logs of the service and of the client. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Client, path } from "../../../src/client/index.ts";
import { startEmulator } from "../../../src/testing/node.ts";
import { turns } from "../../support/turns.ts";
import { windowsInPauses } from "../../support/windows.ts";

const HERD = 300;
const LIMIT = 50;
const WINDOW_MS = 1_000;
const MAX_CONCURRENCY = 10;
/** What is added to a pause at random is at most a twentieth of it. */
const LONGEST_PAUSE_MS = WINDOW_MS * (1 + 1 / 20);
/** A timer that is set after that of a pause and due later fires after it, on a machine however busy. */
const LATE_MS = 20;

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

// Jitter at its mean: how long a pause lasts is then a property of the gate.
beforeAll(() => void vi.spyOn(Math, "random").mockReturnValue(0.5));
afterAll(() => void vi.restoreAllMocks());

describe.concurrent("300 calls at once against 50 per window", () => {
  test.each(herds)("$method", async ({ call, created }) => {
    await using service = await startEmulator({ projects: [{ name: "web" }], ...windowsInPauses(LIMIT, WINDOW_MS) });
    const { requests, issues } = service.emulator;
    const sent: { readonly number: number; readonly at: number }[] = [];
    const refusedAt: number[] = [];
    /** `sentInTime` is not known of a pause that is not late when the test ends. */
    const pauses: { readonly delayMs: number; readonly sentBefore: number; sentInTime?: number }[] = [];
    const client = new Client({
      baseUrl: service.baseUrl,
      token: service.token,
      maxConcurrency: MAX_CONCURRENCY,
      timeoutMs: false,
      fetch: async (url, init) => {
        sent.push({ number: Number(new Headers(init.headers).get("x-number")), at: performance.now() });
        const response = await fetch(url, init);
        if (response.status === 429) refusedAt.push(performance.now());
        return response;
      },
      onEvent: (event) => {
        if (event.type !== "rate_limit_pause") return;
        const pause: (typeof pauses)[number] = { delayMs: event.delayMs, sentBefore: sent.length };
        pauses.push(pause);
        const look = async (): Promise<void> => {
          await turns(1); // the timer of the pause is set by now
          await sleep(Math.ceil(event.delayMs) + LATE_MS);
          await turns(3); // what waited for it is sent by now
          pause.sentInTime = sent.length - pause.sentBefore;
        };
        void look();
      },
    });

    const settled = await Promise.allSettled(Array.from({ length: HERD }, (_, index) => call(client, index)));

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

    expect(Math.max(...requests.map(({ inFlight }) => inFlight))).toBeLessThan(MAX_CONCURRENCY);
    // After a pause one request is sent ahead; the next one is sent after its response.
    for (const { index } of refusals) {
      const [probe, second] = requests.slice(index + 1);
      expect(second?.at).toBeGreaterThan(probe?.endedAt ?? Number.POSITIVE_INFINITY);
    }
    // In order: each call is first sent after all earlier ones; one that got a 429 is the next to be sent again.
    const numbers = sent.map(({ number }) => number);
    expect([...new Set(numbers)]).toEqual(Array.from({ length: HERD }, (_, index) => index));
    expect(sent).toHaveLength(requests.length);
    // The service may receive requests in another order than they were sent.
    for (const { index, headers } of refusals) {
      expect(requests[index + 1]?.headers["x-number"]).toBe(headers["x-number"]);
    }

    // Nothing is sent while a pause runs; it is no longer than what is asked for and its jitter, and the next request is
    // sent when it is over.
    expect([pauses.length, refusedAt.length]).toEqual([refusals.length, refusals.length]);
    for (const [nth, { delayMs, sentBefore, sentInTime }] of pauses.entries()) {
      const endsAt = (refusedAt[nth] ?? Number.POSITIVE_INFINITY) + WINDOW_MS;
      expect(sent[sentBefore]?.at, "sent while the pause ran").toBeGreaterThanOrEqual(endsAt);
      expect(delayMs).toBeLessThanOrEqual(LONGEST_PAUSE_MS);
      expect(sentInTime, "sent before it was late").not.toBe(0);
    }
  });
});
