/** Many calls with random failures, from seeds: the invariants of the gate. */
import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { type CallOptions, type Client, isAutomationError } from "../../../../src/client/index.ts";
import { seededRandom } from "../../../../src/testing/index.ts";
import { shareOf } from "../../../support/all-tests.ts";
import { createIssue, get, revoke } from "../../../support/calls.ts";
import { allEnded, ended, fakeNow, fakeTime, finish, pass, watch } from "../../../support/fake-time.ts";
import {
  after,
  bodyThat,
  connectionLost,
  good,
  never,
  notConnected,
  type Reply,
  responds,
  tooMany,
} from "../../../support/replies.ts";
import { type SentRequest, scriptedFetch } from "../../../support/scripted-fetch.ts";

fakeTime();

const CALLS = 120;
const MAX_CONCURRENCY = 7;

test.each(Array.from({ length: shareOf(40) }, (_, seed) => seed + 1))("seed %i: no slot is lost", async (seed) => {
  const random = seededRandom(seed);
  const pick = <Item>(...items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item; // never beyond
  const tooEarly: SentRequest[] = [];
  let [mostOpen, pauseBeganAt, pauseEndsAt] = [0, 0, 0];
  const refusing: Reply = (sent) => {
    const seconds = pick(0, 1, 1, 2, 5);
    const now = fakeNow();
    // An aborted call does not see the response.
    if (!sent.signal.aborted && now + seconds * 1_000 > pauseEndsAt) {
      [pauseBeganAt, pauseEndsAt] = [now < pauseEndsAt ? pauseBeganAt : now, now + seconds * 1_000];
    }
    return tooMany(seconds)(sent);
  };
  const service = scriptedFetch((sent) => {
    mostOpen = Math.max(mostOpen, service.open);
    if (sent.at > pauseBeganAt && sent.at < pauseEndsAt) tooEarly.push(sent);
    const fate = pick<Reply>(
      good,
      good,
      good,
      good,
      refusing,
      responds(500),
      responds(503, { "retry-after": "1" }),
      responds(404),
      connectionLost,
      notConnected,
      never,
      bodyThat("breaks"),
      bodyThat("stalls"),
      responds(200, {}, "<p>"),
    );
    return after(Math.ceil(random() * 300), fate)(sent);
  });
  const client = service.client({
    maxConcurrency: MAX_CONCURRENCY,
    timeoutMs: 700,
    retry: { rateLimitWaits: 50, minDelayMs: 50 },
  });
  const controllers: AbortController[] = [];
  const call = (): Promise<unknown> => {
    const options: CallOptions = {};
    if (random() < 0.3) options.totalTimeoutMs = Math.ceil(random() * 4_000);
    if (random() < 0.3) {
      const controller = new AbortController();
      controllers.push(controller);
      setTimeout(() => controller.abort(), Math.ceil(random() * 3_000));
      options.signal = controller.signal;
    }
    if (random() < 0.1) options.retry = false;
    return pick<(client: Client) => Promise<unknown>>(
      (one) => get(one, 1, options),
      (one) => revoke(one, options),
      (one) => createIssue(one, options),
    )(client);
  };

  const first = watch(Array.from({ length: CALLS / 2 }, call));
  await pass(400);
  const second = watch(Array.from({ length: CALLS / 2 }, call));
  const settled = [...(await finish(first)), ...(await finish(second))];

  for (const { error } of settled) if (error !== undefined && !isAutomationError(error)) throw error;
  expect(mostOpen).toBeLessThanOrEqual(MAX_CONCURRENCY);
  expect(tooEarly).toEqual([]);
  expect(service.open).toBe(0);
  await pass(60_000); // the timers of the test, and the last pause
  for (const { signal } of controllers) expect(getEventListeners(signal, "abort")).toEqual([]);

  // No slot was lost, and the gate opens.
  const healthy = scriptedFetch(after(100, good));
  const successor = client.withOptions({ fetch: healthy.fetch });
  await ended(successor.sessions.get("1"));
  const last = await allEnded(Array.from({ length: 3 * MAX_CONCURRENCY }, () => successor.sessions.get("1")));
  expect(last.filter(({ error }) => error !== undefined)).toEqual([]);
  expect(Math.max(...last.map(({ tookMs }) => tookMs))).toBeLessThan(320);
});
