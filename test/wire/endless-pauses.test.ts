/** A `Retry-After` that is longer than any date can say. */
import { expect, test } from "vitest";
import type { ClientEvent } from "../../src/index.ts";
import { ended, fakeTime } from "../support/fake-time.ts";
import { tooMany } from "../support/replies.ts";
import { scriptedFetch } from "../support/scripted-fetch.ts";

fakeTime();

test.each(["9007199254740", "99999999999999999999"])(
  "%s seconds: the snapshot and the events stay valid",
  async (seconds) => {
    const events: ClientEvent[] = [];
    const client = scriptedFetch(tooMany(seconds)).client({ onEvent: (event) => events.push(event) });
    const first = await ended(client.sessions.get("1"));
    expect(first.error).toMatchObject({ kind: "rate_limit", attempts: 1 });
    const second = await ended(client.sessions.get("1"));
    expect(second.error).toMatchObject({ kind: "rate_limit", outcome: "not_sent", attempts: 0 });
    expect(client.rateLimit?.pausedUntil?.toISOString()).toBe("+275760-09-13T00:00:00.000Z");
    for (const event of events) {
      if (event.type === "rate_limit_pause") expect(Number.isFinite(event.delayMs)).toBe(true);
    }
  },
);
