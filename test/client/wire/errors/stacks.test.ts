import { afterEach, describe, expect, test } from "vitest";
import { type BulkOptions, type BulkRun, bulkWrite, memoryJournal } from "../../../../src/bulk/index.ts";
import { fileJournal } from "../../../../src/bulk/node.ts";
import {
  AutomationError,
  Client,
  type ClientOptions,
  type IssueCreateInput,
  path,
  rotatingToken,
  type StandardSchema,
} from "../../../../src/client/index.ts";
import { createMcpServer } from "../../../../src/mcp/index.ts";
import { instrument } from "../../../../src/opentelemetry/index.ts";
import { redisRateLimiter } from "../../../../src/redis/index.ts";
import { runProgram } from "../../../support/child-program.ts";
import { rejection } from "../../../support/promises.ts";
import { json, page } from "../../../support/replies.ts";
import { openWire } from "../../../support/scripted-fetch.ts";

const wire = openWire();
const anything: StandardSchema = { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) } };

const all = async (iterable: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of iterable);
};

/** A class of the library, a first line with name and message, and the line of the caller in the first frame. */
function expectOfCaller(error: unknown): void {
  expect(error).toBeInstanceOf(AutomationError);
  const { name, message, stack = "" } = error as Error; // as said above
  const [head, first] = stack.split("\n    at ");
  expect(head).toBe(`${name}: ${message}`);
  expect(first).toContain("/stacks.test.ts:");
}

test.each<[string, ClientOptions, Response?]>([
  ["a response of another shape", {}, json(7)],
  ["a second attempt that fails", { retry: { attempts: 2, minDelayMs: 0 } }, json({ error: "later" }, 503)],
  ["a connection that fails", { fetch: () => Promise.reject(new TypeError("fetch failed")), retry: false }],
  ["a timeout", { fetch: () => new Promise(() => {}), retry: false, timeoutMs: 1 }],
  ["a token that is none", { token: () => "" }],
])("the first frame is the line of the caller: of %s", async (_, options, response = json({})) => {
  wire.reply(() => response.clone());
  const client = wire.client(options);
  const calls = [
    async () => await client.sessions.get("s"),
    async () => await client.issues.create("p", { title: "t", type: "bug" }),
    async () => await client.tokens.rotate("t", { adopt: options.token === undefined }),
    async () => await client.sessions.waitFor("s", { until: () => true, totalTimeoutMs: 50 }),
    async () => await all(client.projects.list()),
    async () => await all(client.projects.list({}, { prefetch: true }).pages()),
    async () => await Promise.all([client.sessions.get("s")]),
  ];
  for (const call of calls) expectOfCaller(await rejection(call()));
});

test("a list that is taken for an iterable names the line that does so, first", async () => {
  const list = wire.client().projects.list() as unknown as unknown[]; // as in JavaScript
  function takesItForAnIterable(): unknown {
    return [...list];
  }
  const error = await rejection((async () => takesItForAnIterable())());
  expect((error as Error).stack).toMatch(/^ArgumentError: [^\n]*\n\s+at takesItForAnIterable \(/);
});

test.each([false, true])("a walk that fails on its second page names its consumer, prefetch %s", async (prefetch) => {
  wire.reply(({ query }) => (query.has("cursor") ? json({}, 404) : page(["a"], "c1")));
  async function consumesTwoPages(): Promise<void> {
    for await (const item of wire.client().projects.list({}, { prefetch })) expect(item.id).toBe("a");
  }
  expect(((await rejection(consumesTwoPages())) as Error).stack).toContain("consumesTwoPages");
});

test("a call that waited in the queue names its own caller, not that of the call before", async () => {
  wire.reply(() => json({}, 404));
  const client = wire.client({ maxConcurrency: 1 });
  async function first(): Promise<unknown> {
    return await client.sessions.get("a");
  }
  async function queuedSecond(): Promise<unknown> {
    return await client.sessions.get("b");
  }
  const [, error] = await Promise.all([rejection(first()), rejection(queuedSecond())]);
  expect((error as Error).stack).toContain("queuedSecond");
});

describe("the first frame is the line of the caller: of arguments, options and functions of the package", () => {
  const client = (): Client => wire.client({ retry: false });
  const create = (input: object): Promise<unknown> => client().issues.create("p", input as IssueCreateInput);
  const run = (options: Partial<BulkOptions<string, unknown>>): BulkRun<string, unknown> =>
    bulkWrite({
      client: client(),
      items: ["a"],
      key: (item) => item,
      send: async () => {},
      journal: memoryJournal(),
      ...options,
    });
  const lost = (): never => {
    throw new Error("the disk is gone");
  };

  test.each<[string, () => Promise<unknown>]>([
    ["sessions.list", async () => await all(client().sessions.list("p"))],
    ["paginate", async () => await all(client().paginate({ path: path`/x`, schema: anything }))],
    ["arguments, with the response", async () => await client().sessions.get("").withResponse()],
    ["sessions.get: arguments", async () => await client().sessions.get("")],
    ["issues.create: arguments", async () => await create({ titel: "t" })],
    ["tokens.create: arguments", async () => await client().tokens.create({} as never)],
    ["tokens.revoke: arguments", async () => await client().tokens.revoke("")],
    ["tokens.rotate: arguments", async () => await client().tokens.rotate("", { adopt: 1 } as never)],
    ["request: arguments", async () => await client().request({} as never)],
    ["a list: arguments", async () => await all(client().projects.list({ limit: "x" } as never))],
    ["paginate: arguments", async () => await all(client().paginate({} as never))],
    [
      "page: an argument too many",
      async () => await (client().projects.list() as { page(cursor: unknown): Promise<unknown> }).page(2),
    ],
    [
      "toArray: arguments",
      async () =>
        await client()
          .projects.list()
          .toArray(10 as never),
    ],
    ["waitFor: arguments", async () => await client().sessions.waitFor("s", {} as never)],
    ["watch: arguments", async () => await all(client().sessions.watch("s", { intervalMs: -1 }))],
    ["the constructor", async () => new Client({ baseUrl: "nowhere", token: "t" })],
    ["the constructor of a derived class", async () => new (class extends Client {})({ baseUrl: "nowhere" })],
    ["withOptions", async () => client().withOptions({ timeoutMs: -1 })],
    ["setToken", async () => client().setToken("")],
    ["path", async () => path`/x/${""}`],
    ["rotatingToken", async () => rotatingToken({} as never)],
    ["redisRateLimiter", async () => redisRateLimiter({} as never)],
    ["instrument", async () => instrument({}, { tracer: 1 } as never)],
    ["createMcpServer", async () => createMcpServer({} as never)],
    ["fileJournal", async () => fileJournal("")],
    ["bulkWrite: a folder as its journal", async () => await run({ journal: fileJournal(".") })],
    ["bulkWrite: options", async () => bulkWrite({} as never)],
    ["bulkWrite: a key, awaited", async () => await run({ key: () => "" })],
    ["bulkWrite: a key", async () => await all(run({ key: () => "" }))],
    ["bulkWrite: its send", async () => await all(run({}))],
    ["bulkWrite: a journal that fails", async () => await all(run({ journal: { ...memoryJournal(), load: lost } }))],
    [
      "bulkWrite: a second iteration",
      async () => {
        const once = run({ items: [] });
        await once;
        await all(once);
      },
    ],
  ])("%s", async (_, call) => {
    wire.reply(() => json({ error: "no" }, 404));
    expectOfCaller(await rejection(call()));
  });
});

/** The line that calls it. */
function here(): number {
  return lineIn(`\n${new Error().stack?.split("\n").slice(2).join("\n")}`);
}

/** The line of this file in the first frame. */
function lineIn(stack: string | undefined): number {
  return Number(/stacks\.test\.ts:(\d+)/.exec(stack?.split("\n    at ")[1] ?? "")?.[1]);
}

describe("the first frame is the line of the call, and not that of the await", () => {
  type Failing = Promise<unknown> | AsyncIterator<unknown>;
  const ahead = (c: Client): AsyncIterable<unknown> => c.projects.list({}, { prefetch: true });
  const CALLED: Readonly<Record<string, (c: Client) => readonly [number, Failing]>> = {
    "sessions.get": (c) => [here(), c.sessions.get("s")],
    "issues.create": (c) => [here(), c.issues.create("p", { title: "t", type: "bug" })],
    "tokens.create": (c) => [here(), c.tokens.create({ name: "n", scopes: [] })],
    "tokens.rotate": (c) => [here(), c.tokens.rotate("t")],
    "tokens.rotate with adopt": (c) => [here(), c.tokens.rotate("t", { adopt: true })],
    "tokens.revoke": (c) => [here(), c.tokens.revoke("t")],
    request: (c) => [here(), c.request({ method: "GET", path: path`/x` })],
    page: (c) => [here(), c.projects.list().page()],
    toArray: (c) => [here(), c.projects.list().toArray()],
    waitFor: (c) => [here(), c.sessions.waitFor("s", { until: () => true })],
    "the loop over a list": (c) => [here(), c.projects.list()[Symbol.asyncIterator]()],
    "the loop over a list with prefetch": (c) => [here(), ahead(c)[Symbol.asyncIterator]()],
    "pages()": (c) => [here(), c.projects.list().pages()],
    "the loop over a watch": (c) => [here(), c.sessions.watch("s")[Symbol.asyncIterator]()],
    "a call with its response": (c) => [here(), c.sessions.get("s").withResponse()],
    "an adoption with its response": (c) => [here(), c.tokens.rotate("t", { adopt: true }).withResponse()],
    "request with its response": (c) => [here(), c.request({ method: "GET", path: path`/x` }).withResponse()],
    "page with its response": (c) => [here(), c.projects.list().page().withResponse()],
    "arguments of a call": (c) => [here(), c.sessions.get("")],
    "arguments of a list": (c) => [here(), c.projects.list({ limit: 0.5 }).toArray()],
  };

  const start = (call: (c: Client) => readonly [number, Failing]): readonly [number, Promise<unknown>] => {
    wire.reply(() => json({ error: "no" }, 404));
    const [line, failing] = call(wire.client({ retry: false }));
    return [line, "next" in failing ? failing.next() : failing];
  };
  const expectLine = (error: unknown, line: number): void => {
    expect(error).toBeInstanceOf(AutomationError);
    expect(lineIn((error as Error).stack)).toBe(line);
    expect(line).toBeGreaterThan(0);
  };

  test.each(Object.entries(CALLED))("%s: stored, and awaited later", async (_, call) => {
    const [line, promise] = start(call);
    const stored = { later: Promise.allSettled([promise]) };
    await new Promise((resolve) => setImmediate(resolve));
    const [settled] = await stored.later;
    expectLine(settled?.status === "rejected" && settled.reason, line);
  });

  test("never awaited: what the platform prints of an unhandled rejection names the caller", async () => {
    const program = `
      process.on("unhandledRejection", (error) => console.log(error.stack.split("\\n").slice(0, 2).join("|")));
      const fetch = async () => new Response('{"error":"no"}', { status: 404 });
      const client = new Client({ baseUrl: "https://service.example.com/api/v1", token: "t", retry: false, fetch });
      function forgets() {
        client.sessions.get("s");
        client.sessions.get("s").withResponse();
        client.sessions.waitFor("s", { until: () => true });
      }
      forgets();`;
    const { stdout, stderr } = await runProgram(program);
    expect(stderr).toBe("");
    const lines = stdout.trim().split("\n");
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(line).toMatch(/^NotFoundError: .*\|\s+at forgets \(/);
  });
});

describe("whatever the application does to errors", () => {
  const platform = Error as { prepareStackTrace?: unknown; stackTraceLimit?: number | undefined };
  const { stackTraceLimit } = Error;
  afterEach(() => {
    delete platform.prepareStackTrace;
    Error.stackTraceLimit = stackTraceLimit;
  });

  test.each<[string, () => void]>([
    [
      "Error.prepareStackTrace returns call sites",
      () => (platform.prepareStackTrace = (_: unknown, sites: unknown) => sites),
    ],
    ["Error.prepareStackTrace returns nothing", () => (platform.prepareStackTrace = () => undefined)],
    [
      "Error.prepareStackTrace throws for what is no error",
      () => (platform.prepareStackTrace = (error: unknown) => (error as Error).message.trim()),
    ],
    ["Error.stackTraceLimit is 0", () => (Error.stackTraceLimit = 0)],
    ["Error.stackTraceLimit is undefined", () => (platform.stackTraceLimit = undefined)],
  ])("%s: the error is whole, and can be cloned", async (_, change) => {
    wire.reply(() => json({ error: "no" }, 404));
    const client = wire.client({ retry: false });
    change();
    for (const call of [
      async () => await client.sessions.get("s"),
      async () => await client.projects.list().page(),
      async () => new Client({ baseUrl: "nowhere", token: "t" }),
    ]) {
      const error = (await rejection(call())) as Error;
      expect(error).toBeInstanceOf(AutomationError);
      expect(() => error.stack).not.toThrow();
      expect(structuredClone(error).message).toBe(error.message);
    }
  });

  test("Error.prototype is frozen", async () => {
    const program = `
      Object.freeze(Error.prototype);
      const reject = (call) => call().then(() => "resolved", ({ name, message }) => name + ": " + message);
      const client = (options) => new Client({ baseUrl: "https://service.example.com/api/v1", token: "t", retry: false, ...options });
      const fetch = async () => new Response('{"error":"no"}', { status: 404 });
      console.log(await reject(() => client({ fetch }).sessions.get("s")));
      console.log(await reject(() => client({ fetch, token: async () => { throw new Error("closed"); } }).sessions.get("s")));`;
    const { stdout, stderr } = await runProgram(program);
    expect(stderr).toBe("");
    expect(stdout.trim().split("\n")).toEqual([
      "NotFoundError: sessions.get: 404 no",
      "TokenProviderError: sessions.get: the token provider failed (closed)",
    ]);
  });
});

describe("the stack that a user's fetch takes", () => {
  const { stackTraceLimit } = Error;
  afterEach(() => {
    Error.stackTraceLimit = stackTraceLimit;
  });

  test("reaches the user's program", async () => {
    Error.stackTraceLimit = 100;
    let stack = "";
    const fetch = async (): Promise<Response> => {
      stack = String(new Error("here").stack);
      return page([], null);
    };
    async function programOfTheUser(): Promise<void> {
      await wire.client({ fetch, validation: "lenient" }).issues.create("web", { title: "t", type: "bug" });
    }
    await programOfTheUser();
    expect(stack).toContain("at async programOfTheUser");
  });
});
