/** A wait is not silent: its events and lines carry the state, and its error says why no poll got through. */
import { beforeEach, describe, expect, test } from "vitest";
import { type Client, type ClientEvent, isAutomationError, type Logger } from "../../../../src/client/index.ts";
import { ended, fakeNow, fakeTime, finish, pass } from "../../../support/fake-time.ts";
import { rejection } from "../../../support/promises.ts";
import { json, never, notConnected, type Reply, responds, tooMany } from "../../../support/replies.ts";
import { repeatingLast, type ScriptedFetch, scriptedFetch } from "../../../support/scripted-fetch.ts";

fakeTime();

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const is =
  (state: unknown): Reply =>
  () =>
    json({ id: "s", state });

interface Told {
  readonly events: ClientEvent[];
  readonly lines: (readonly [level: keyof Logger, line: string])[];
  readonly client: Client;
}

function listen(service: ScriptedFetch, options: object = {}): Told {
  const events: ClientEvent[] = [];
  const lines: [keyof Logger, string][] = [];
  const at =
    (level: keyof Logger) =>
    (line: string): void =>
      void lines.push([level, line.replace(/^\[call_\w+\] /, "")]);
  const logger = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  const onEvent = (event: ClientEvent): void => void events.push(event);
  return { events, lines, client: service.client({ logger, logLevel: "debug", onEvent, ...options }) };
}

/** A wait of `waitFor`, or of `watch`, that `until` ends. */
const waits = {
  waitFor: (client: Client, until: (state: string) => boolean, options: object = {}): Promise<unknown> =>
    client.sessions.waitFor("s", { until: ({ state }) => until(state), ...options }),
  watch: async (client: Client, until: (state: string) => boolean, options: object = {}): Promise<unknown> => {
    for await (const { state } of client.sessions.watch("s", options)) if (until(state)) return;
    return undefined;
  },
};

describe.each(Object.entries(waits))("%s", (name, wait) => {
  test("tells the state of each poll, in an event and a line", async () => {
    const { client, events, lines } = listen(scriptedFetch(is("queued"), is("queued"), responds(500), is("done")), {
      retry: false,
    });
    await finish(wait(client, (state) => state === "done", { intervalMs: 1_000 }));
    const polls = events.filter((event) => event.type === "poll");
    expect(polls).toMatchObject([
      { operation: `sessions.${name}`, state: "queued", unchangedMs: 0, stalled: false },
      { state: "queued", unchangedMs: expect.any(Number), stalled: false },
      { state: "done", unchangedMs: 0, stalled: false },
    ]);
    expect(polls[1]?.unchangedMs).toBeGreaterThanOrEqual(750);
    const told = lines.filter(([, line]) => line.includes("state")).map(([level, line]) => `${level} ${line}`);
    expect(told).toEqual([
      `debug sessions.${name}: state "queued" for 0 s`,
      `debug sessions.${name}: state "queued" for 1 s`,
      `debug sessions.${name}: state "done" for 0 s`,
    ]);
  });

  test("warns once when ten minutes have changed nothing and nothing ends it, and again of another state", async () => {
    const began = fakeNow();
    const state: Reply = (sent) => is(sent.at - began < 2 * HOUR ? "running" : "runnning")(sent);
    const { client, events, lines } = listen(scriptedFetch(state), { logLevel: "info" });
    const controller = new AbortController();
    const waiting = rejection(wait(client, (seen) => seen === "completed", { signal: controller.signal }));
    const warnings = (): string[] => lines.filter(([level]) => level === "warn").map(([, line]) => line);
    await pass(10 * MINUTE - 1);
    expect(lines).toEqual([]);
    await pass(MINUTE);
    expect(warnings()).toEqual([
      expect.stringMatching(
        RegExp(`^sessions\\.${name}: state "running" for 6\\d\\d s, and no totalTimeoutMs ends this wait$`),
      ),
    ]);
    await pass(3 * HOUR);
    expect(warnings()).toHaveLength(2);
    expect(warnings()[1]).toContain('"runnning"');
    expect(events.filter((event) => event.type === "poll" && event.stalled)).toHaveLength(2);
    controller.abort();
    await waiting;
  });

  test("does not warn of a wait that its totalTimeoutMs ends, nor of one that changes", async () => {
    const began = fakeNow();
    const changing: Reply = (sent) => is(`step ${Math.floor((sent.at - began) / (9 * MINUTE))}`)(sent);
    for (const [reply, options] of [
      [is("running"), { totalTimeoutMs: 30 * MINUTE }],
      [changing, {}],
    ] as const) {
      const { client, lines } = listen(scriptedFetch(reply), { logLevel: "warn" });
      const controller = new AbortController();
      const waiting = rejection(wait(client, () => false, { signal: controller.signal, ...options }));
      await pass(40 * MINUTE);
      controller.abort();
      await waiting;
      expect(lines).toEqual([]);
    }
  });

  test.each<readonly [string, readonly Reply[], string]>([
    ["the service is down", [notConnected], "; no state was seen; the last poll failed: .*ECONNREFUSED.*"],
    ["it is unwell", [responds(503)], "; no state was seen; the last poll failed: 503 refused"],
    [
      "it limits",
      [tooMany(1)],
      "; no state was seen; the last poll failed: 429 too_many_requests; the service asks to wait 1 s",
    ],
    [
      "it fails, and is silent then",
      [notConnected, never],
      "; no state was seen; the last poll failed: .*ECONNREFUSED.*",
    ],
    [
      "it went down",
      [is("running"), notConnected],
      '; the last state was "running"; the last poll failed: .*ECONNREFUSED.*',
    ],
  ])("says why no poll got through: %s", async (_, replies, why) => {
    for (const retry of [false, { attempts: 3, minDelayMs: 100, rateLimitWaits: 0 }] as const) {
      const client = scriptedFetch(repeatingLast(...replies)).client({ retry });
      const { error } = await ended(wait(client, () => false, { totalTimeoutMs: 3_000 }));
      expect(error).toMatchObject({ kind: "timeout", phase: "total" });
      expect((error as Error).message.replace(/^sessions\.\w+: /, "")).toMatch(
        RegExp(`^totalTimeoutMs \\(3000\\) ran out during the wait${why}$`),
      );
    }
  });
});

test("the state in an event is a short text without secrets", async () => {
  const { client, events, lines } = listen(
    scriptedFetch(is(`pat_publickey_s3cr3tTailOfTheToken ${"x".repeat(500)}\n`)),
  );
  await finish(waits.waitFor(client, () => true));
  const state = events.find((event) => event.type === "poll")?.state ?? "";
  expect(state.length).toBe(200);
  expect(`${state}${lines.join()}`).not.toContain("s3cr3tTail");
});

describe("intervals", () => {
  let polls: number[];
  beforeEach(() => {
    polls = [];
  });
  const service = scriptedFetch((sent) => {
    polls.push(sent.at);
    return is("running")(sent);
  });

  /** The shortest and the longest wait between the polls of a wait of ten minutes. */
  async function gapsOf(options: object): Promise<readonly [number, number]> {
    await ended(waits.waitFor(service.client(), () => false, { totalTimeoutMs: 10 * MINUTE, ...options }));
    const gaps = polls.slice(1).map((at, index) => at - (polls[index] ?? 0));
    return [Math.min(...gaps), Math.max(...gaps)];
  }

  test.each([
    [{ intervalMs: MINUTE }, 45_000, 60_000],
    [{ maxIntervalMs: 500 }, 375, 500],
    [{ intervalMs: MINUTE, maxIntervalMs: MINUTE }, 45_000, 60_000],
    [{}, 750, 15_000],
  ])("%j: polls from %d ms to %d ms apart", async (options, least, most) => {
    const [shortest, longest] = await gapsOf(options);
    expect(shortest).toBeGreaterThanOrEqual(least);
    expect(longest).toBeLessThanOrEqual(most + 2);
    expect(longest).toBeGreaterThan(most * 0.75);
  });

  test.each(Object.entries(waits))(
    "%s: a first one above a given longest one is refused, and nothing is sent",
    async (name, wait) => {
      const { error } = await ended(wait(service.client(), () => false, { intervalMs: 60_000, maxIntervalMs: 15_000 }));
      expect(isAutomationError(error) && [error.kind, error.outcome, error.message]).toEqual([
        "argument",
        "not_sent",
        `sessions.${name}: options.intervalMs (60000) must not be above options.maxIntervalMs (15000)`,
      ]);
      expect(polls).toEqual([]);
    },
  );
});
