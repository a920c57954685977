/** A platform that was changed: frozen built-ins, and globals that a test environment hides. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { Client, ConfigError, path } from "../../../../src/client/index.ts";
import { runProgram } from "../../../support/child-program.ts";
import { rejection } from "../../../support/promises.ts";
import { json } from "../../../support/replies.ts";
import { BASE, openWire } from "../../../support/scripted-fetch.ts";

const wire = openWire();

/** Calls that succeed, retry and fail, whose errors are printed as JSON. */
const CALLS = `
  const answers = [new Response("{}", { status: 503 }), Response.json({ id: "s", state: "on" }), Response.json({ error: "no" }, { status: 404 })];
  const sent = [];
  const fetch = async (url, init) => {
    sent.push({ url, authorization: init.headers.authorization, headers: Object.keys(init.headers).sort() });
    return answers.shift();
  };
  const baseUrl = "https://service.example.com/api/v1";
  const client = new Client({ baseUrl, token: "own-token", fetch, retry: { minDelayMs: 0 } });
  const session = await client.sessions.get("s");
  const error = await client.sessions.get("t").catch((error) => error);
  const config = (() => { try { return new Client({ baseUrl: "ftp://x" , token: "t" }); } catch (error) { return error; } })();
  console.log(JSON.stringify({ session, sent, error, config, stack: typeof error.stack }));`;

const SEEN = {
  session: { id: "s", state: "on" },
  sent: Array(3).fill({ authorization: "Bearer own-token", headers: ["accept", "authorization", "user-agent"] }),
  error: { kind: "not_found", status: 404, code: "no" },
  config: { kind: "config" },
  stack: "string",
};

test.each([
  [
    "a read-only Error.stackTraceLimit",
    `Object.defineProperty(Error, "stackTraceLimit", { value: 5, writable: false, configurable: false });`,
  ],
  ["a frozen Error", "Object.freeze(Error); Object.freeze(Error.prototype);"],
  ["no Error.captureStackTrace", "delete Error.captureStackTrace;"],
  ["a frozen Object.prototype and Array.prototype", "Object.freeze(Object.prototype); Object.freeze(Array.prototype);"],
])("%s leads to no foreign error", async (_, before) => {
  const { stdout, stderr } = await runProgram(`${before}\n${CALLS}`);
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toMatchObject(SEEN);
});

describe.each(["Headers", "Request", "Response"])("an environment without %s", (name) => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  test.each<[string, string, (client: Client) => Promise<unknown>]>([
    ["sessions.get", "a read", (c) => c.sessions.get("s")],
    ["issues.create", "a write", (c) => c.issues.create("p", { title: "t", type: "bug" })],
    ["request", "a request", (c) => c.request({ method: "GET", path: path`/x` })],
    ["projects.list", "a list", (c) => c.projects.list().toArray()],
    ["projects.list", "a page with its response", (c) => c.projects.list().page().withResponse()],
    ["sessions.get", "a call with its response", (c) => c.sessions.get("s").withResponse()],
    ["tokens.rotate", "an adoption", (c) => c.tokens.rotate("t", { adopt: true })],
    ["sessions.waitFor", "a wait", (c) => c.sessions.waitFor("s", { until: () => true })],
  ])("%s: %s says which one, and what to use instead", async (operation, _, call) => {
    const client = wire.client();
    vi.stubGlobal(name, undefined);
    const error = await rejection(call(client));
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({
      outcome: "not_sent",
      message: `${operation} needs ${name}: the environment lacks them; with jest, use testEnvironment "jest-fixed-jsdom" or "node"`,
    });
    expect(wire.sent).toHaveLength(0);
  });

  test("is looked at by each call anew", async () => {
    wire.reply(() => json({ id: "s", state: "on" }));
    const client = wire.client();
    vi.stubGlobal(name, undefined);
    await rejection(client.sessions.get("s"));
    vi.unstubAllGlobals();
    expect(await client.sessions.get("s")).toEqual({ id: "s", state: "on" });
  });
});

test("headers of a client need Headers", () => {
  vi.stubGlobal("Headers", undefined);
  try {
    expect(() => new Client({ baseUrl: BASE, token: "t", headers: { a: "b" } })).toThrow(
      /^headers needs Headers: the environment lacks them/,
    );
  } finally {
    vi.unstubAllGlobals();
  }
});
