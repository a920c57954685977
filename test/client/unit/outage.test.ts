/** The rule of outages in waits: which failed polls are missed polls, and how long an outage may last. */
import { describe, expect, test } from "vitest";
import {
  type AutomationError,
  ConnectionError,
  NotFoundError,
  RateLimitError,
  ServerError,
  TimeoutError,
} from "../../../src/client/index.ts";
import { delayOfPoll, type Outage, outageAfter } from "../../../src/client/resources/outage.ts";

const MINUTE = 60_000;
const lost = new ConnectionError("lost", { outcome: undefined });
const unavailable = (retryAfterMs?: number): AutomationError => new ServerError("503", { status: 503, retryAfterMs });
const missing = new NotFoundError("404", { status: 404, outcome: "rejected" });

interface Row {
  readonly title: string;
  /** `undefined` where the poll before succeeded. */
  readonly missed?: AutomationError;
  readonly silentSince: number;
  readonly failure: AutomationError;
  readonly at: number;
  readonly isBounded?: boolean;
  /** `undefined` where the wait ends. */
  readonly since: number | undefined;
}

describe("after a poll that failed", () => {
  test.each<Row>([
    {
      title: "the outage begins with the first failure",
      silentSince: 0,
      failure: lost,
      at: 20 * MINUTE,
      since: 20 * MINUTE,
    },
    { title: "it goes on with the next one", missed: lost, silentSince: 5, failure: lost, at: MINUTE, since: 5 },
    {
      title: "it may last just under ten minutes",
      missed: lost,
      silentSince: 0,
      failure: lost,
      at: 10 * MINUTE - 1,
      since: 0,
    },
    {
      title: "after ten minutes it ends the wait",
      missed: lost,
      silentSince: 0,
      failure: lost,
      at: 10 * MINUTE,
      since: undefined,
    },
    {
      title: "unless the wait has a limit of its own",
      missed: lost,
      silentSince: 0,
      failure: lost,
      at: 60 * MINUTE,
      isBounded: true,
      since: 0,
    },
    {
      title: "a Retry-After begins it anew, at its end",
      missed: lost,
      silentSince: 0,
      failure: unavailable(30_000),
      at: MINUTE,
      since: MINUTE + 30_000,
    },
    { title: "a 503 without one does not", missed: lost, silentSince: 7, failure: unavailable(), at: MINUTE, since: 7 },
    {
      title: "a Retry-After that comes late saves the wait",
      missed: lost,
      silentSince: 0,
      failure: unavailable(1_000),
      at: 11 * MINUTE,
      since: 11 * MINUTE + 1_000,
    },
    {
      title: "a timeout may pass",
      silentSince: 0,
      failure: new TimeoutError("slow", { phase: "headers" }),
      at: 3,
      since: 3,
    },
    { title: "a refusal ends the wait at once", silentSince: 0, failure: missing, at: 3, since: undefined },
    {
      title: "a refusal ends the wait in an outage, too",
      missed: lost,
      silentSince: 0,
      failure: missing,
      at: 3,
      isBounded: true,
      since: undefined,
    },
  ])("$title", ({ missed, silentSince, failure, at, isBounded = false, since }) => {
    const after = outageAfter({ silentSince, missed }, { failure, at, isBounded });
    expect(after).toEqual(since === undefined ? undefined : { silentSince: since, missed: failure });
  });
});

describe("the next poll", () => {
  test.each<readonly [string, Outage, number]>([
    ["comes after the wait, if the last one succeeded", { silentSince: 90_000, missed: undefined }, 1_000],
    ["comes after the wait, in an outage", { silentSince: 0, missed: lost }, 1_000],
    ["comes not before a 503 has asked for", { silentSince: 40_000, missed: unavailable(30_000) }, 30_000],
    ["comes after the wait, if a 503 has asked for less", { silentSince: 10_500, missed: unavailable(500) }, 1_000],
    [
      "leaves the pause of a 429 to the rate limiter",
      { silentSince: 40_000, missed: new RateLimitError("429", { status: 429, retryAfterMs: 30_000 }) },
      1_000,
    ],
  ])("%s", (_, outage, delayMs) => {
    expect(delayOfPoll(outage, 1_000, 10_000)).toBe(delayMs);
  });
});
