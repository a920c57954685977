/** `RateLimit-Remaining`: correct, wrong or missing. */
import { describe, expect, test } from "vitest";
import { get, herd, kinds } from "../../../support/calls.ts";
import { allEnded, ended, fakeNow, fakeTime } from "../../../support/fake-time.ts";
import { after, good, status, tooMany } from "../../../support/replies.ts";
import { type ScriptedFetch, scriptedFetch } from "../../../support/scripted-fetch.ts";

fakeTime();

describe("RateLimit-Remaining", () => {
  const inFlight = (service: ScriptedFetch): number[] =>
    service.sent.map(({ at }, index) => service.sent.slice(0, index).filter((other) => other.at + 100 > at).length + 1);
  const leaving = (remaining: string | undefined) =>
    after(100, async (sent) => {
      const response = await good(sent);
      if (remaining !== undefined) response.headers.set("ratelimit-remaining", remaining);
      return response;
    });

  test("at 0, one at a time; a service that always says 0 does not deadlock", async () => {
    const service = scriptedFetch(leaving("0"));
    const client = service.client();
    await ended(get(client, 0));
    const settled = await allEnded(herd(client, 30));
    expect(kinds(settled).filter(Boolean)).toEqual([]);
    expect(Math.max(...inFlight(service).slice(1))).toBe(1);
    expect(Math.max(...settled.map(({ tookMs }) => tookMs)), "and never sleeps on a guess").toBeLessThan(30 * 105);
  });

  test("never more requests in flight than the service last said are left", async () => {
    const service = scriptedFetch(leaving("3"));
    const client = service.client();
    await ended(get(client, 0));
    await allEnded(herd(client, 30));
    expect(Math.max(...inFlight(service).slice(1))).toBe(3);
  });

  test.each([undefined, "", "-1", "many", "NaN", "99999999999999999999999", "1000000"])(
    "%j limits nothing",
    async (remaining) => {
      const service = scriptedFetch(leaving(remaining));
      const client = service.client({ maxConcurrency: 5 });
      await ended(get(client, 0));
      await allEnded(herd(client, 20));
      expect(Math.max(...inFlight(service).slice(1))).toBe(5);
      expect(client.rateLimit?.remaining ?? 0).not.toBeNaN();
    },
  );

  test("a 429 although the service said that 100 requests are left", async () => {
    let refusals = 0;
    const service = scriptedFetch((sent) => {
      const refuse = sent.index % 10 === 9;
      refusals += refuse ? 1 : 0;
      return refuse ? tooMany(1, { "ratelimit-remaining": "100" })(sent) : leaving("100")(sent);
    });
    const settled = await allEnded(herd(service.client(), 60));
    expect(kinds(settled).filter(Boolean)).toEqual([]);
    expect(service.sent).toHaveLength(60 + refusals);
  });

  test("another process uses the same budget: still one 429 a window and no failure", async () => {
    let [used, windowAt, refusedInWindow, most] = [0, fakeNow(), 0, 0];
    const service = scriptedFetch((sent) =>
      after(20, () => {
        if (fakeNow() - windowAt >= 1_000) [used, windowAt, refusedInWindow] = [0, fakeNow(), 0];
        used += 3; // ours, and two of the other's
        if (used <= 30) return good(sent);
        refusedInWindow += 1;
        most = Math.max(most, refusedInWindow);
        return status(429, { "retry-after": "1", "ratelimit-remaining": "0" });
      })(sent),
    );
    const settled = await allEnded(herd(service.client({ maxConcurrency: 1 }), 60));
    expect(kinds(settled).filter(Boolean)).toEqual([]);
    expect(most).toBe(1);
  });

  test("without any headers, there are at most as many 429s as requests in flight", async () => {
    let [used, windowAt] = [0, fakeNow()];
    const service = scriptedFetch((sent) =>
      after(20, () => {
        if (fakeNow() - windowAt >= 1_000) [used, windowAt] = [0, fakeNow()];
        used += 1;
        return used <= 50 ? good(sent) : status(429, { "retry-after": "1" });
      })(sent),
    );
    const settled = await allEnded(herd(service.client(), 300));
    expect(kinds(settled).filter(Boolean)).toEqual([]);
    expect(service.sent.length - 300, "refusals").toBeLessThanOrEqual(6 * 10);
  });
});
