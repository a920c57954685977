/** Log lines: what is logged at which level, with which fields, and where they go without a logger. */
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  type Client,
  type ClientEvent,
  type ClientOptions,
  ConfigError,
  type LogFields,
  type Logger,
  type LogLevel,
} from "../../../../src/client/index.ts";
import { runProgram } from "../../../support/child-program.ts";
import { send, serve } from "../../../support/http-server.ts";
import { rejection } from "../../../support/promises.ts";
import { json } from "../../../support/replies.ts";
import { openWire, TOKEN } from "../../../support/scripted-fetch.ts";
import { expectClean } from "../../../support/sweep.ts";

const wire = openWire();
afterEach(() => {
  vi.unstubAllEnvs();
});

type Level = keyof Logger;
type Line = readonly [level: Level, line: string, fields: LogFields];

/** A logger, and what it was called with: each line without the id that it begins with. */
function recorder(): { readonly logger: Logger; readonly lines: readonly Line[] } {
  const lines: Line[] = [];
  const at =
    (level: Level) =>
    (line: string, fields: LogFields): void => {
      const [prefix = "", text = ""] = line.split(/(?<=^\[call_\w+\]) /);
      expect(prefix, "every line begins with the id of its call").toBe(`[${fields["callId"]}]`);
      lines.push([level, text, fields]);
    };
  return { logger: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") }, lines };
}

/** Something to log at each level: requests, a retry and a refusal, an unexpected response, a write that may have been applied. */
async function work(client: Client): Promise<void> {
  wire.script(
    json({}, 503),
    json({ id: "s" }, 200),
    json({ error: "no_such_session" }, 404, { "x-request-id": "req_1" }),
    json({ error: "internal" }, 500),
  );
  await client.sessions.get("s");
  await rejection(client.sessions.get("t"));
  await rejection(client.issues.create("web", { title: "One", type: "bug" }));
}

async function levelsOf(options: ClientOptions): Promise<Level[]> {
  const { logger, lines } = recorder();
  await work(wire.client({ retry: { minDelayMs: 0 }, validation: "lenient", logger, ...options }));
  return [...new Set(lines.map(([level]) => level))].sort();
}

describe("the level", () => {
  test.each<[LogLevel, Level[]]>([
    ["debug", ["debug", "error", "info", "warn"]],
    ["info", ["error", "info", "warn"]],
    ["warn", ["error", "warn"]],
    ["error", ["error"]],
    ["off", []],
  ])("%s", async (logLevel, levels) => {
    expect(await levelsOf({ logLevel })).toEqual(levels);
  });

  test('is "warn" with a logger', async () => {
    expect(await levelsOf({})).toEqual(["error", "warn"]);
  });

  test("comes from the environment, where no option sets it", async () => {
    vi.stubEnv("PROJECT_AUTOMATION_LOG", "info");
    expect(await levelsOf({})).toEqual(["error", "info", "warn"]);
  });

  test("that is invalid is a ConfigError", () => {
    expect(() => wire.client({ logLevel: "verbose" as never })).toThrow(
      new ConfigError('options.logLevel must be one of debug, info, warn, error, off, not "verbose"', {
        outcome: "not_sent",
      }),
    );
  });
});

describe("the lines", () => {
  test("say what happened, and have its fields as values", async () => {
    const { logger, lines } = recorder();
    await work(wire.client({ retry: { minDelayMs: 0 }, validation: "lenient", logger, logLevel: "debug" }));
    const ids = lines.map(([, , { callId }]) => callId);
    const [first, , , , , , second] = ids;
    const told = lines.map(([level, line]) => [level, line.replace(/\d+ ms/, "N ms")]);
    expect(told).toEqual([
      ["debug", expect.stringMatching(/^sessions\.get: attempt 1, GET \/sessions\/\{\w*\}$/)],
      ["debug", "sessions.get: response 503 in N ms"],
      ["info", "sessions.get: attempt 1 failed (server_error), retry in N ms"],
      ["debug", expect.stringMatching(/^sessions\.get: attempt 2, /)],
      ["debug", "sessions.get: response 200 in N ms"],
      ["warn", "sessions.get: unexpected response, returned as it is: state"],
      ["debug", expect.stringMatching(/^sessions\.get: attempt 1, /)],
      ["debug", "sessions.get: response 404 in N ms"],
      ["info", "sessions.get: 404 no_such_session (request req_1)"],
      ["debug", expect.stringMatching(/^issues\.create: attempt 1, POST /)],
      ["debug", "issues.create: response 500 in N ms"],
      ["error", expect.stringMatching(/^issues\.create: 500 internal; it may have been applied/)],
    ]);
    expect(first).not.toBe(second);
    expect(lines[1]?.[2]).toMatchObject({
      callId: first,
      operation: "sessions.get",
      attempt: 1,
      status: 503,
      headersMs: expect.any(Number),
      bodyMs: expect.any(Number),
    });
    expect(lines[7]?.[2]).toMatchObject({ callId: second, status: 404, requestId: "req_1" });
    expect(lines[2]?.[2]).toMatchObject({ reason: "server_error", delayMs: expect.any(Number), status: 503 });
    expect(lines[8]?.[2]).toEqual({
      callId: second,
      operation: "sessions.get",
      kind: "not_found",
      status: 404,
      code: "no_such_session",
      attempts: 1,
      outcome: "rejected",
      requestId: "req_1",
    });
  });

  test("name what is of an unexpected shape, also a response as a whole", async () => {
    const { logger, lines } = recorder();
    wire.script(json({ id: 5 }), json([]));
    const { sessions } = wire.client({ logger, validation: "lenient" });
    await sessions.get("s");
    await sessions.get("s");
    expect(lines.map(([level, line]) => [level, line])).toEqual([
      ["warn", "sessions.get: unexpected response, returned as it is: id, state"],
      ["warn", "sessions.get: unexpected response, returned as it is: body"],
    ]);
  });

  test.each([
    ["rate limit, 4 s", 429, "4", "info", "rate limit reached, pausing for"],
    ["rate limit, 5 s", 429, "5", "warn", "rate limit reached, pausing for"],
    ["503, 4 s", 503, "4", "info", "attempt 1 failed (unavailable), retry in"],
    ["503, 5 s", 503, "5", "warn", "attempt 1 failed (unavailable), retry in"],
  ])("say a wait of 5 s or more as a warning: %s", async (...row) => {
    const [, status, retryAfter, level, line] = row;
    const controller = new AbortController();
    const { logger, lines } = recorder();
    wire.script(json({}, status, { "retry-after": retryAfter }));
    const stop = (event: ClientEvent): void => {
      // The wait itself is not of interest.
      if (event.type === "retry") controller.abort();
    };
    const client = wire.client({ logger, logLevel: "info", onEvent: stop });
    await rejection(client.sessions.get("s", { signal: controller.signal }));
    const wait = lines.find(([, said]) => said.startsWith(`sessions.get: ${line}`));
    expect(wait?.[0]).toBe(level);
    expect(lines.filter(([at]) => at === "warn")).toHaveLength(level === "warn" ? 1 : 0);
  });

  test("and their fields hold no secret", async () => {
    const { logger, lines } = recorder();
    const secret = { error: TOKEN, message: `Bearer ${TOKEN}`, plaintext: "pat_new_secretOfTheAnswer" };
    wire.reply(() => json(secret, 500, { "x-request-id": TOKEN }));
    const client = wire.client({ logger, logLevel: "debug", headers: { "x-api-key": "secretOfTheHeader" } });
    await rejection(client.tokens.rotate("tok_1", { retry: { attempts: 1 } }));
    expect(lines).toHaveLength(3);
    expectClean(lines, [TOKEN, "s3cr3tTailOfTheToken", "pat_new_secretOfTheAnswer", "secretOfTheHeader"]);
  });

  test("are one line each, whatever the service says", async () => {
    const { logger, lines } = recorder();
    wire.reply(() =>
      json({ error: "no", message: "first\nsecond\r\n\u001b[31mthird\u0085" }, 400, { "x-request-id": "a\u0085b" }),
    );
    await rejection(wire.client({ logger, logLevel: "debug" }).sessions.get("s"));
    for (const [, line] of lines) expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
    expect(lines.at(-1)?.[1]).toContain("first second [31mthird");
  });
});

describe("without a logger, in a process of its own", () => {
  const program = (options: string): string => `
    new Client(${options});
    const client = new Client({ ...${options}, retry: false });
    console.log(await client.sessions.get("ses_1").then((session) => session.id));`;

  async function run(
    environment: Record<string, string>,
    options = "{}",
    body: object = { id: "ses_1", state: "on" },
  ): Promise<{ out: string; lines: string[]; code: number | null }> {
    const server = await serve((response) => send(response, 200, body));
    const { stdout, stderr, code } = await runProgram(program(options), {
      environment: {
        PROJECT_AUTOMATION_BASE_URL: `${server.origin}/api/v1`,
        PROJECT_AUTOMATION_TOKEN: TOKEN,
        ...environment,
      },
    });
    return { out: stdout, lines: stderr.split("\n").filter(Boolean), code };
  }

  test("PROJECT_AUTOMATION_LOG writes lines to standard error, and none to standard output", async () => {
    const { out, lines } = await run({ PROJECT_AUTOMATION_LOG: "debug" });
    expect(out).toBe("ses_1\n");
    expect(lines).toEqual([
      expect.stringMatching(/^\[call_\w+\] sessions\.get: attempt 1, GET /),
      expect.stringMatching(/^\[call_\w+\] sessions\.get: response 200 in \d+ ms$/),
    ]);
    expect(lines.join()).not.toContain(TOKEN);
  });

  test.each([
    ["nothing is logged by default", {}, "{}"],
    ["off is off", { PROJECT_AUTOMATION_LOG: "off" }, "{}"],
    ["an empty variable is none", { PROJECT_AUTOMATION_LOG: "" }, "{}"],
    ["an option comes before it", { PROJECT_AUTOMATION_LOG: "debug" }, '{ logLevel: "off" }'],
  ])("%s", async (_, environment, options) => {
    expect(await run(environment, options)).toEqual({ out: "ses_1\n", lines: [], code: 0 });
  });

  test("without the variable and a level nothing is printed, ever", async () => {
    const options = '{ validation: "lenient", onEvent() { throw new Error("mine"); } }';
    expect(await run({}, options, { id: "ses_1" })).toEqual({ out: "ses_1\n", lines: [], code: 0 });
  });

  test.each([
    ["without the variable", {}],
    ["in the place of the variable", { PROJECT_AUTOMATION_LOG: "off" }],
  ])("the option logLevel alone writes to standard error, %s", async (_, environment) => {
    expect((await run(environment, '{ logLevel: "debug" }')).lines).toHaveLength(2);
  });

  test.each(["verbose", "1", "a-secret-in-the-wrong-variable"])(
    "an unknown level, %s, is told once, counts as warn, and stops nothing",
    async (level) => {
      const { out, lines, code } = await run({ PROJECT_AUTOMATION_LOG: level }, '{ validation: "lenient" }', {
        id: "ses_1",
      });
      expect([out, code]).toEqual(["ses_1\n", 0]);
      expect(lines).toEqual([
        `PROJECT_AUTOMATION_LOG in the environment is not one of debug, info, warn, error, off: it counts as warn`,
        expect.stringMatching(/^\[call_\w+\] sessions\.get: unexpected response, returned as it is: state$/),
      ]);
    },
  );
});
