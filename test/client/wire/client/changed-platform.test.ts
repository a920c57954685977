/** A platform that was changed: frozen built-ins, and globals that a test environment hides. */
import { expect, test, vi } from "vitest";
import { Client } from "../../../../src/client/index.ts";
import { runProgram } from "../../../support/child-program.ts";
import { BASE } from "../../../support/scripted-fetch.ts";

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

test.each(["Headers", "Request", "Response"])(
  "a client in an environment without %s says what to use instead",
  (name) => {
    vi.stubGlobal(name, undefined);
    try {
      expect(() => new Client({ baseUrl: BASE, token: "t" })).toThrow(
        `a Client needs ${name}: the environment lacks them; with jest, use testEnvironment "jest-fixed-jsdom" or "node"`,
      );
    } finally {
      vi.unstubAllGlobals();
    }
  },
);
