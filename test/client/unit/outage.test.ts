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
import { delayOfPoll, outageAfter } from "../../../src/service/outage.ts";

const MINUTE = 60_000;
const lost = new ConnectionError("lost", { outcome: undefined });
const unavailable = (retryAfterMs?: number): AutomationError => new ServerError("503", { status: 503, retryAfterMs });
const missing = new NotFoundError("404", { status: 404, outcome: "rejected" });

interface Row {
  readonly title: string;
  /** `undefined` where the poll before succeeded. */
  readonly missed?: AutomationError;
  readonly before?: number;
  readonly failure?: AutomationError;
  readonly tookMs?: number;
  readonly isAnswered?: boolean;
  readonly isBounded?: boolean;
  /** `undefined` where the wait ends. */
  readonly silentMs: number | undefined;
}

describe("after a poll that failed", () => {
  test.each<Row>([
    { title: "the outage begins with the first failure", tookMs: 20 * MINUTE, silentMs: 0 },
    { title: "it goes on with the next one", missed: lost, before: 5, tookMs: 7, silentMs: 12 },
    { title: "it may last just under ten minutes", missed: lost, tookMs: 10 * MINUTE - 1, silentMs: 10 * MINUTE - 1 },
    {
      title: "after ten minutes it ends the wait",
      missed: lost,
      before: 9 * MINUTE,
      tookMs: MINUTE,
      silentMs: undefined,
    },
    {
      title: "unless the wait has a limit of its own",
      missed: lost,
      tookMs: 60 * MINUTE,
      isBounded: true,
      silentMs: 60 * MINUTE,
    },
    { title: "a poll that had a response is none", missed: lost, before: 9 * MINUTE, isAnswered: true, silentMs: 0 },
    { title: "a Retry-After begins it anew", missed: lost, before: 5, failure: unavailable(30_000), silentMs: 0 },
    {
      title: "the time that was asked for does not count",
      missed: unavailable(11 * MINUTE),
      tookMs: 12 * MINUTE,
      silentMs: MINUTE,
    },
    { title: "a 503 without one does not", missed: lost, before: 7, failure: unavailable(), tookMs: 5, silentMs: 12 },
    {
      title: "a Retry-After that comes late saves the wait",
      missed: lost,
      before: 9 * MINUTE,
      failure: unavailable(1_000),
      tookMs: 2 * MINUTE,
      silentMs: 0,
    },
    { title: "a timeout may pass", failure: new TimeoutError("slow", { phase: "headers" }), silentMs: 0 },
    { title: "a refusal ends the wait at once", failure: missing, silentMs: undefined },
    {
      title: "a refusal ends the wait in an outage, too",
      missed: lost,
      failure: missing,
      isBounded: true,
      silentMs: undefined,
    },
  ])("$title", ({ missed, before = 0, failure = lost, silentMs, ...poll }) => {
    const failed = { failure, tookMs: 0, isAnswered: false, isBounded: false, ...poll };
    const after = outageAfter({ missed, silentMs: before }, failed);
    expect(after).toEqual(silentMs === undefined ? undefined : { missed: failure, silentMs });
  });
});

describe("the next poll", () => {
  test.each<readonly [string, AutomationError | undefined, number]>([
    ["comes after the wait, if the last one succeeded", undefined, 1_000],
    ["comes after the wait, in an outage", lost, 1_000],
    ["comes not before a 503 has asked for", unavailable(30_000), 30_000],
    ["comes after the wait, if a 503 has asked for less", unavailable(500), 1_000],
    [
      "leaves the pause of a 429 to the rate limiter",
      new RateLimitError("429", { status: 429, retryAfterMs: 30_000 }),
      1_000,
    ],
  ])("%s", (_, missed, delayMs) => {
    expect(delayOfPoll({ missed, silentMs: 0 }, 1_000)).toBe(delayMs);
  });
});
