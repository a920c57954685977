/** Waits in the log: a long one is a warning, and so are short ones that together take more than half of a minute. */
import { describe, expect, test } from "vitest";
import type { LogFields } from "../../../../src/client/index.ts";
import { allEnded, fakeTime, finish, pass, watch } from "../../../support/fake-time.ts";
import { good, type Reply, responds, tooMany } from "../../../support/replies.ts";
import { scriptedFetch } from "../../../support/scripted-fetch.ts";

fakeTime();

interface Told {
  readonly level: string;
  readonly line: string;
  readonly at: number;
}

/** The pauses that a client logs while it reads so many sessions, one after the other, at a service that replies so. */
async function pausesOf(reply: Reply, reads: number, options: object = {}): Promise<readonly Told[]> {
  const told: Told[] = [];
  const at =
    (level: string) =>
    (line: string, fields: LogFields): void =>
      void (/pausing|retry in/.test(line) && told.push({ level, line, at: Number(fields["at"]) }));
  const logger = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  const client = scriptedFetch(reply).client({ logger, logLevel: "info", ...options });
  for (let read = 0; read < reads; read += 1) await finish(client.sessions.get(String(read)));
  return told.filter(({ line }) => !line.includes("(rate_limit)"));
}

/** Each second request is refused, for so many seconds. */
const everyOther =
  (seconds: number): Reply =>
  (sent) =>
    sent.index % 2 === 0 ? tooMany(seconds)(sent) : good(sent);

describe("pauses", () => {
  test.each([
    [4, "info"],
    [5, "warn"],
    [60, "warn"],
  ])("one of %d s is told at level %s", async (seconds, level) => {
    const told = await pausesOf(everyOther(seconds), 1);
    expect(told.map((one) => one.level)).toEqual([level]);
  });

  test("short ones that take more than half of a minute are a warning, once for each such half minute", async () => {
    const told = await pausesOf(everyOther(2), 40);
    expect(told).toHaveLength(40);
    const warnings = told.filter(({ level }) => level === "warn");
    // They are longer by up to a twentieth.
    expect(told.findIndex(({ level }) => level === "warn")).toBeGreaterThanOrEqual(14);
    expect(told.findIndex(({ level }) => level === "warn")).toBeLessThanOrEqual(15);
    expect(warnings).toHaveLength(2);
    for (const { line } of warnings) expect(line).toMatch(/pausing for 2\d{3} ms, as for most of this minute$/);
  });

  test("short ones with time to work between them are none", async () => {
    const reply: Reply = async (sent) => {
      if (sent.index % 2 === 0) return tooMany(2)(sent);
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      return good(sent);
    };
    const told = await pausesOf(reply, 30);
    expect(told.filter(({ level }) => level === "warn")).toEqual([]);
  });

  test("those of several tokens at once take the time of one", async () => {
    const levels: string[] = [];
    const note =
      (level: string) =>
      (line: string): void =>
        void (line.includes("pausing") && levels.push(level));
    const logger = { debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") };
    let asked = 0;
    const service = scriptedFetch((sent) => (sent.index < 12 ? tooMany(4)(sent) : good(sent)));
    const client = service.client({ token: () => `pat_${asked++ % 12}`, logger, logLevel: "info", maxConcurrency: 12 });
    const calls = watch(Array.from({ length: 12 }, (_, call) => client.sessions.get(String(call))));
    await pass(30_000);
    await allEnded([calls]);
    expect(levels).toEqual(Array(12).fill("info"));
  });
});

describe("other waits between attempts", () => {
  const once =
    (reply: Reply): Reply =>
    (sent) =>
      sent.index === 0 ? reply(sent) : good(sent);

  test.each<readonly [string, Reply, object, string]>([
    ["a 503's Retry-After of 4 s", responds(503, { "retry-after": "4" }), {}, "info"],
    ["a 503's Retry-After of 5 s", responds(503, { "retry-after": "5" }), {}, "warn"],
    ["a backoff of the default length", responds(500), {}, "info"],
    ["a backoff of 5 s or more", responds(500), { retry: { minDelayMs: 10_000 } }, "warn"],
  ])("%s is told at level %s", async (...row) => {
    const [, reply, options, level] = row;
    expect((await pausesOf(once(reply), 1, options)).map((one) => one.level)).toEqual([level]);
  });
});
