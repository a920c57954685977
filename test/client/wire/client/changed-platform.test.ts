/** A platform that was changed before the package came: frozen built-ins, and a polluted Object.prototype. */
import { afterEach, expect, test } from "vitest";
import { ConfigError } from "../../../../src/client/index.ts";
import { runProgram } from "../../../support/child-program.ts";
import { good } from "../../../support/replies.ts";
import { scriptedFetch } from "../../../support/scripted-fetch.ts";

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

test("what stands on Object.prototype is no option of a client or a call", async () => {
  const polluted = `
    const seen = [];
    const spy = (name) => () => void seen.push(name);
    const pollution = {
      token: "stolen", baseUrl: "https://evil.example.com", timeoutMs: 1, totalTimeoutMs: 1, maxConcurrency: 1,
      logger: { debug: spy("logger"), info: spy("logger"), warn: spy("logger"), error: spy("logger") }, logLevel: "debug",
      onEvent: spy("onEvent"), onRequest: spy("onRequest"), onResponse: spy("onResponse"), instrumentation: { begin: spy("begin") },
      fetchOptions: { dispatcher: 1 }, rateLimiter: { enter: spy("enter"), refresh: spy("refresh"), snapshot: spy("snapshot") },
      limit: 7, cursor: "evil", prefetch: true, adopt: true, allowInsecureHttp: true, validation: "lenient", unsafeWrites: true,
      attempts: 1, maxRetryAfterMs: 0, expires_in_days: 1, max: 1, maxResponseBytes: 1,
    };
    Object.assign(Object.prototype, pollution);
    const answers = { "/sessions/s": { id: "s", state: "on" }, "/projects": { data: [{ id: "p", name: "p" }, { id: "q", name: "q" }], next_cursor: null } };
    const sent = [];
    const fetch = async (url, init) => {
      const { pathname, search } = new URL(url);
      sent.push([pathname + search, init.headers.authorization, init.body]);
      if (init.method === "POST") return new Response("{}", { status: 500 });
      return new Response(JSON.stringify(answers[pathname.slice("/api/v1".length)]));
    };
    const client = new Client({ baseUrl: "https://service.example.com/api/v1", token: "own-token", fetch, retry: { minDelayMs: 0 } });
    await client.sessions.get("s");
    await client.sessions.get("s", {});
    const projects = await client.projects.list().toArray();
    const failed = await client.tokens.create({ name: "n", scopes: [] }).catch(({ kind }) => kind);
    const insecure = (() => { try { return new Client({ baseUrl: "http://x.example.com", token: "t", fetch }); } catch ({ kind }) { return kind; } })();
    for (const name of Object.keys(pollution)) delete Object.prototype[name];
    console.log(JSON.stringify({ seen, sent, projects: projects.length, failed, insecure }));`;
  const { stdout, stderr } = await runProgram(polluted);
  expect(stderr).toBe("");
  const bearer = "Bearer own-token";
  expect(JSON.parse(stdout)).toEqual({
    seen: [],
    sent: [
      ["/api/v1/sessions/s", bearer, null],
      ["/api/v1/sessions/s", bearer, null],
      ["/api/v1/projects", bearer, null],
      ["/api/v1/me/tokens", bearer, '{"name":"n","scopes":[]}'],
    ],
    projects: 2,
    failed: "server",
    insecure: "config",
  });
});

let polluted: string | undefined;
afterEach(() => {
  if (polluted !== undefined) Reflect.deleteProperty(Object.prototype, polluted);
});

function pollute(name: string): void {
  Object.defineProperty(Object.prototype, name, { value: "polluted", configurable: true, writable: true });
  polluted = name;
}

test.each(["method", "headers", "body", "signal", "redirect", "credentials"])(
  "%s on Object.prototype is not taken for an option of fetch that the caller has set",
  (name) => {
    const service = scriptedFetch(good);
    pollute(name);
    expect(() => service.client({ fetchOptions: { cache: "no-store" } })).not.toThrow();
  },
);

test("cause on Object.prototype is not taken for the cause of an error", () => {
  pollute("cause");
  expect(Object.hasOwn(new ConfigError("message", {}), "cause")).toBe(false);
});
