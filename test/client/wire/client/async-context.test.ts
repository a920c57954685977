/** The caller's `AsyncLocalStorage` context, from the call to everything that is run for it. */
import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, test } from "vitest";
import {
  type CallOptions,
  Client,
  type ClientOptions,
  type FetchFunction,
  type Instrumentation,
} from "../../../../src/client/index.ts";
import { drain, gate } from "../../../support/promises.ts";
import { json, pagesOf } from "../../../support/replies.ts";

const request = new AsyncLocalStorage<string>();

/** What was run, and in the context of which caller: `fetch alice`. */
let log: string[] = [];
const note = (what: string): void => void log.push(`${what} ${request.getStore()}`);

const instrumentation: Instrumentation = {
  begin() {
    note("begin");
    return {
      event: ({ type }) => note(`observed ${type}`),
      headers() {
        note("headers");
        return undefined;
      },
      around: (send) => {
        note("around");
        send();
      },
      end: () => note("ended"),
    };
  },
};

const hooks: CallOptions = { onRequest: () => note("onRequest"), onResponse: () => note("onResponse") };
const line = (): void => note("logger");
const logger = { debug: line, info: line, warn: line, error: line };

function clientOf(fetch: FetchFunction, options: ClientOptions = {}): Client {
  log = [];
  return new Client({
    baseUrl: "https://service.example.com/api/v1",
    token: "t",
    fetch: (url, init) => {
      note("fetch");
      return fetch(url, init);
    },
    onEvent: ({ type }) => note(type),
    logger,
    logLevel: "debug",
    instrumentation,
    retry: { minDelayMs: 0 },
    ...options,
  });
}

const session = (): Response => json({ id: "s", state: "on" });

/** Everything that was run for one of the callers. */
const runFor = (caller: string): string[] =>
  log.filter((entry) => entry.endsWith(` ${caller}`)).map((entry) => entry.slice(0, -caller.length - 1));

const ONE_CALL = [
  ...["begin", "onRequest", "request", "logger", "observed request", "headers", "around", "fetch"],
  ...["response", "logger", "observed response", "end", "observed end", "ended", "onResponse"],
];

test("calls that queue behind others keep their own", async () => {
  const client = clientOf(async () => session(), { maxConcurrency: 1 });
  const callers = ["alice", "bob", "carol", "dave"];
  await Promise.all(callers.map((name) => request.run(name, () => client.sessions.get("s", hooks))));
  for (const name of callers) expect(runFor(name)).toEqual(ONE_CALL);
  expect(log).toHaveLength(callers.length * ONE_CALL.length);
});

test("calls that wait for a pause, which another call's 429 began", async () => {
  const answers = [json({}, 429, { "retry-after": "0.05" })];
  const asked = gate();
  const client = clientOf(async () => {
    const answer = answers.shift();
    if (answer !== undefined) await asked.opened;
    return answer ?? session();
  });
  const first = request.run("alice", () => client.sessions.get("s", hooks));
  await expect.poll(() => runFor("alice")).toContain("fetch");
  asked.open();
  await expect.poll(() => runFor("alice")).toContain("rate_limit_pause");
  const others = ["bob", "carol"].map((name) => request.run(name, () => client.sessions.get("s", hooks)));
  await Promise.all([first, ...others]);
  // Each was sent in its own context, and the pause was told in that of the call that was refused.
  for (const name of ["bob", "carol"]) {
    expect(runFor(name).filter((entry) => !/rate_limit_resume|logger/.test(entry))).toEqual(
      ONE_CALL.filter((entry) => entry !== "logger"),
    );
  }
  expect(runFor("alice").filter((entry) => entry === "fetch")).toHaveLength(2);
  expect(log.filter((entry) => entry.startsWith("rate_limit_pause"))).toEqual(["rate_limit_pause alice"]);
  expect(log.filter((entry) => entry.endsWith("undefined"))).toEqual([]);
});

test("calls that are retried, and sent again with another token", async () => {
  const answers = [json({}, 503), json({}, 401), session()];
  const client = clientOf(async () => answers.shift() ?? session(), {
    token: ({ rejected }) => {
      note("token");
      return rejected === undefined ? "first" : "second";
    },
  });
  await request.run("alice", () => client.sessions.get("s", hooks));
  expect(log.filter((entry) => entry === "fetch alice")).toHaveLength(3);
  expect(log.filter((entry) => entry.startsWith("token "))).toEqual(["token alice", "token alice", "token alice"]);
  expect(log.filter((entry) => !entry.endsWith(" alice"))).toEqual([]);
});

describe("walks", () => {
  test.each([{ prefetch: false }, { prefetch: true }])("the pages of a walk, %o", async ({ prefetch }) => {
    const pages = pagesOf(["a"], ["b"], ["c"]);
    const client = clientOf(async (url) => {
      const query = new URL(url).searchParams;
      return pages({ query } as Parameters<typeof pages>[0]);
    });
    await Promise.all(
      ["alice", "bob"].map((name) => request.run(name, () => drain(client.projects.list({}, { ...hooks, prefetch })))),
    );
    for (const name of ["alice", "bob"]) {
      expect(runFor(name).filter((entry) => entry === "fetch")).toHaveLength(3);
      expect(runFor(name).filter((entry) => entry === "page")).toHaveLength(3);
    }
    expect(log.filter((entry) => entry.endsWith("undefined"))).toEqual([]);
  });

  test("the polls of a wait, and its condition", async () => {
    let polls = 0;
    const client = clientOf(async () => json({ id: "s", state: `s${++polls}` }));
    const until = ({ state }: { state: string }): boolean => {
      note("until");
      return state === "s3";
    };
    await request.run("alice", () => client.sessions.waitFor("s", { until, intervalMs: 1, ...hooks }));
    expect(runFor("alice").filter((entry) => entry === "until")).toHaveLength(3);
    expect(log.filter((entry) => !entry.endsWith(" alice"))).toEqual([]);
  });
});

test("a call that is aborted by another one's code is told in its own context", async () => {
  const controller = new AbortController();
  const client = clientOf(() => new Promise(() => undefined));
  const call = request.run("alice", () => client.sessions.get("s", { signal: controller.signal, ...hooks }));
  await expect.poll(() => runFor("alice")).toContain("fetch");
  request.run("bob", () => controller.abort());
  await expect(call).rejects.toThrow("aborted");
  expect(runFor("bob")).toEqual([]);
  expect(runFor("alice")).toContain("end");
});
