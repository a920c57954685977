/** The mistakes that are commonly made, each with the message that it gets. */
import { inspect } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  ArgumentError,
  Client,
  type ClientOptions,
  ConfigError,
  memoryRateLimiter,
  path,
  rotatingToken,
} from "../../../../src/client/index.ts";
import { gate, rejection } from "../../../support/promises.ts";
import { json } from "../../../support/replies.ts";
import { BASE, openWire, TOKEN } from "../../../support/scripted-fetch.ts";
import { expectClean } from "../../../support/sweep.ts";

const wire = openWire();
type Bad = never; // the types reject it, but callers without types may pass it

const issue = { title: "t", type: "bug" };
const ACCEPTED =
  "baseUrl, token, timeoutMs, totalTimeoutMs, retry, headers, maxConcurrency, rateLimiter, fetch, fetchOptions, onEvent, logger, logLevel, instrumentation, validation, maxResponseBytes, allowInsecureHttp";
const CALL_OPTIONS = "signal, timeoutMs, totalTimeoutMs, retry, headers, extra, onRequest, onResponse";

const record = { id: "tok_1", plaintext: TOKEN, expires_at: "2030-01-01T00:00:00Z" };

/** Options of a client by the names of others, and what the message says in the place of what is accepted. */
const NAMES_OF_OTHERS: Readonly<Record<string, string>> = {
  baseURL: 'did you mean "baseUrl"?',
  serverURL: 'did you mean "baseUrl"?',
  url: 'did you mean "baseUrl"?',
  apiKey: 'did you mean "token"?',
  auth: 'did you mean "token"?',
  accessToken: 'did you mean "token"?',
  defaultHeaders: 'did you mean "headers"?',
  userAgent: 'write headers: { "user-agent": … }',
  retries: "write retry: { attempts: 2 }, which counts the first",
  maxRetries: "write retry: { attempts: 2 }, which counts the first",
  maxNetworkRetries: "write retry: { attempts: 2 }, which counts the first",
  retryConfig: 'did you mean "retry"?',
  timeout: 'did you mean "timeoutMs"?',
  agent: "write fetchOptions: { dispatcher }",
  middleware: "write a fetch of your own",
  hooks: 'did you mean "onEvent"?',
  debug: 'write logger: console, logLevel: "debug"',
  onResponse: '"onResponse" belongs in the last argument of a call; onEvent sees every call',
  idempotencyKey: "write nothing: the service has no idempotency keys; see error.outcome",
};

test.each(Object.entries(NAMES_OF_OTHERS))("a client's option by another client's name: %s", (name, hint) => {
  const options = { baseUrl: BASE, token: TOKEN, [name]: 1 };
  const flaw = `options must not have the unknown key "${name}" (${hint}); accepted: ${ACCEPTED}`;
  expect(() => new Client(options)).toThrow(expect.objectContaining({ name: "ConfigError", message: flaw }));
});

test.each<[string, object, string]>([
  [
    "retries",
    { retry: { retries: 3 } },
    'retry must not have the unknown key "retries" (write attempts: 4, which counts the first); accepted: attempts, minDelayMs, maxDelayMs, rateLimitWaits, maxRetryAfterMs, unsafeWrites',
  ],
  ["retry: 3", { retry: 3 }, "options.retry must be an object such as { attempts: 3 }, or false, not 3"],
  ["validation: loose", { validation: "loose" }, 'options.validation must be one of strict, lenient, not "loose"'],
  [
    "a record as token",
    { token: record },
    "token must be a string, not an object: pass its .plaintext, or rotatingToken({ token, onRotated })",
  ],
  ["a promise as token", { token: Promise.resolve(TOKEN) }, "token must be a string, not a promise: await it"],
  [
    "a token in quotes",
    { token: `"${TOKEN}"` },
    "token must be the token alone: leave out the quotes (docker --env-file keeps them)",
  ],
  [
    "a token of a variable that was not set",
    { token: `${undefined}` },
    "token must be a token, not a placeholder or an unset variable",
  ],
  ...["${TOKEN}", "$TOKEN", "%TOKEN%", "{{token}}", "<your-token>", "[token]", "YOUR_TOKEN_HERE", "your-token"].map(
    (token): [string, object, string] => [
      `a placeholder as token: ${token}`,
      { token },
      "token must be a token, not a placeholder or an unset variable",
    ],
  ),
  ...["https://{{host}}/api/v1", "https://${HOST}/api/v1", "{{baseUrl}}", "https://a.example/{tenant}/api/v1"].map(
    (baseUrl): [string, object, string] => [
      `a placeholder in the address: ${baseUrl}`,
      { baseUrl },
      "baseUrl must not contain a placeholder ({)",
    ],
  ),
  ["a placeholder as address", { baseUrl: "<base-url>" }, "baseUrl must not contain a placeholder (<)"],
  ["a variable as address", { baseUrl: "%BASE_URL%" }, "baseUrl must be an absolute http: or https: URL"],
  [
    "a rate limiter that was not made",
    { rateLimiter: memoryRateLimiter },
    "options.rateLimiter must be a RateLimiter with the methods enter, snapshot, not a function: call it",
  ],
  [
    "an address in quotes",
    { baseUrl: `"${BASE}"` },
    "such as https://automation.example.com/api/v1; leave out the quotes around it",
  ],
  ["an address with a query", { baseUrl: `${BASE}?x=1` }, "baseUrl must not contain ?"],
  ["an address with a fragment", { baseUrl: `${BASE}#x` }, "baseUrl must not contain #"],
  [
    "an address with a space",
    { baseUrl: `${BASE} ` },
    "baseUrl must not contain white space, control or invisible characters",
  ],
  [
    "an address with an invisible end",
    { baseUrl: `${BASE}\u200b` },
    "baseUrl must not contain white space, control or invisible",
  ],
  [
    "an address with a hard space",
    { baseUrl: `${BASE}\u00a0` },
    "baseUrl must not contain white space, control or invisible",
  ],
  [
    "a client of Redis as rateLimiter",
    {
      rateLimiter: new (class Redis {
        eval(): void {}
      })() as never,
    },
    "not an instance of Redis: pass redisRateLimiter({ client }) of project-automation/redis",
  ],
  ["a header with a bad value", { headers: { "x-a": "1", "x-b": "ü\u0100" } }, 'not allowed in an HTTP header: "x-b"'],
  ["a header of null", { headers: { "x-b": null } }, 'not allowed in an HTTP header: "x-b"'],
  ["content-length", { headers: { "content-length": "5" } }, "headers must not set content-length"],
  ["a string", "https://h.example" as never, "options must be an object such as { baseUrl }, not a string"],
])("%s of a client", (_, options, message) => {
  const make = (): Client =>
    new Client(typeof options === "string" ? options : { baseUrl: BASE, token: TOKEN, ...options });
  expect(make).toThrow(ConfigError);
  expect(make).toThrow(message);
});

test("a rotatingToken in the place of a token, not called, is named before anything is sent", async () => {
  const client = wire.client({ token: rotatingToken as never });
  const error = await rejection(client.sessions.get("s"));
  expect(error).toMatchObject({ kind: "token_provider", outcome: "not_sent" });
  expect(String(error)).toContain("rotatingToken: options must have token and onRotated");
  expect(wire.sent).toEqual([]);
});

test("a client, of this service or of Redis, in the place of options is named", () => {
  const client = wire.client();
  const redis = new (class Redis {
    readonly options = {};
    eval(): void {}
  })();
  for (const other of [client, redis] as ClientOptions[]) {
    const name = other.constructor.name;
    const flaw = `options must be a plain object such as { baseUrl }, not an instance of ${name}`;
    expect(() => new Client(other)).toThrow(new ConfigError(flaw, { outcome: "not_sent" }));
    expect(() => client.withOptions(other)).toThrow(new ConfigError(flaw, { outcome: "not_sent" }));
  }
});

describe("in the environment", () => {
  const NEITHER =
    "baseUrl and token are missing: pass them, or set PROJECT_AUTOMATION_BASE_URL and PROJECT_AUTOMATION_TOKEN in the environment";

  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test.each<[string, Readonly<Record<string, string>>, string]>([
    ["nothing", {}, NEITHER],
    [
      "the address alone",
      { BASE_URL: BASE },
      "token is missing: pass it, or set PROJECT_AUTOMATION_TOKEN in the environment",
    ],
    [
      "another name",
      { URL: BASE, API_KEY: TOKEN },
      `${NEITHER} (PROJECT_AUTOMATION_URL and PROJECT_AUTOMATION_API_KEY are not read)`,
    ],
    [
      "quotes",
      { BASE_URL: BASE, TOKEN: `'${TOKEN}'` },
      "PROJECT_AUTOMATION_TOKEN must be the token alone: leave out the quotes (docker --env-file keeps them)",
    ],
  ])("%s", (_, variables, message) => {
    for (const name of ["BASE_URL", "TOKEN", "URL", "API_KEY"]) {
      vi.stubEnv(`PROJECT_AUTOMATION_${name}`, variables[name]);
    }
    expect(() => new Client()).toThrow(expect.objectContaining({ name: "ConfigError", message }));
  });
});

test("a missing token is told without the environment where there is none", () => {
  const { process } = globalThis;
  try {
    expect(() => new Client({ baseUrl: BASE })).toThrow(
      "token is missing: pass it, or set PROJECT_AUTOMATION_TOKEN in the environment",
    );
    Reflect.deleteProperty(globalThis, "process");
    expect(() => new Client({ baseUrl: BASE })).toThrow(/^token is missing: pass it$/);
  } finally {
    globalThis.process = process;
  }
});

const CALLS: Readonly<Record<string, readonly [(client: Client) => Promise<unknown>, string]>> = {
  "a name as parameters": [
    (c) => c.projects.list("web" as Bad).page(),
    'projects.list: params must be an object such as { limit }, not "web"',
  ],
  "a page number": [
    (c) => c.projects.list({ page: 2 } as Bad).page(),
    'projects.list: params must not have the unknown key "page" (write cursor: the next_cursor of the page before); accepted: limit, cursor',
  ],
  "a cursor of null": [
    (c) => c.projects.list({ cursor: null } as Bad).page(),
    "projects.list: params.cursor must be a non-empty string of well-formed Unicode, not null: null marks the end of a list; leave the cursor out to begin",
  ],
  "toArray(10)": [
    (c) => c.projects.list().toArray(10 as Bad),
    "toArray: options must be an object such as { max }, not 10",
  ],
  "all in one argument": [
    (c) => c.issues.create({ project: "web", ...issue } as Bad, undefined as Bad),
    "issues.create: project must be a name, an id or a project, not an object without an id; the project is the first argument",
  ],
  "a promise of a project": [
    (c) => c.issues.create(Promise.resolve("web") as Bad, issue),
    "issues.create: project must be a name, an id or a project, not a promise: await it",
  ],
  "a misspelt title": [
    (c) => c.issues.create("web", { titel: "t", type: "bug" } as Bad),
    'issues.create: input must have title, and not have the unknown key "titel" (did you mean "title"?); accepted: title, type',
  ],
  "several unknown fields": [
    (c) => c.issues.create("web", { titel: "t", body: "b", issue_id2: 1 } as Bad),
    'issues.create: input must have title and type, and not have the unknown keys "titel", "body", "issue_id2" (if your service takes others, pass them in options.extra.json; did you mean "title"?); accepted: title, type',
  ],
  "no input": [
    (c) => c.issues.create("web", undefined as Bad),
    "issues.create: input.title must be a string, not undefined",
  ],
  "a record for its id": [
    (c) => c.sessions.get({ id: "ses_1", state: "on" } as Bad),
    "sessions.get: id must be a string, not an object; pass its .id",
  ],
  "a number for an id": [
    (c) => c.sessions.get(7 as Bad),
    "sessions.get: id must be a string, not 7; write String(value)",
  ],
  "a controller": [
    (c) => c.sessions.get("s", { signal: new AbortController() } as Bad),
    "sessions.get: options.signal must be an AbortSignal such as controller.signal, not an instance of AbortController",
  ],
  "a signal whose members are no functions": [
    (c) => c.sessions.get("s", { signal: { aborted: false, addEventListener: 1, removeEventListener: 1 } } as Bad),
    "sessions.get: options.signal must be an AbortSignal such as controller.signal, not an object",
  ],
  "a signal as options": [
    (c) => c.sessions.get("s", new AbortController().signal as Bad),
    "sessions.get: options must be a plain object such as { signal }, not an instance of AbortSignal",
  ],
  "a response as options": [
    (c) => c.sessions.get("s", new Response("x")),
    "sessions.get: options must be a plain object such as { signal }, not an instance of Response",
  ],
  "a method in small letters": [
    (c) => c.request({ method: "get", path: path`/x` } as Bad),
    'request: request.method must be one of GET, HEAD, POST, PUT, PATCH, DELETE, not "get"',
  ],
  "a path as a string": [
    (c) => c.request({ method: "GET", path: "/projects/web" } as Bad),
    "request: request.path must be made with path`…`, which this package exports, not a string",
  ],
  "a state to wait for": [
    (c) => c.sessions.waitFor("s", "done" as Bad),
    'sessions.waitFor: options must be an object such as { until }, not "done"',
  ],
  "a function to wait for": [
    (c) => c.sessions.waitFor("s", (() => true) as Bad),
    "sessions.waitFor: options must be an object such as { until }, not a function",
  ],
  "a wait for a state": [
    (c) => c.sessions.waitFor("s", { state: "done" } as Bad),
    `sessions.waitFor: options must have until, and not have the unknown key "state"; accepted: ${CALL_OPTIONS}, intervalMs, maxIntervalMs, until`,
  ],
  "one scope": [
    (c) => c.tokens.create({ name: "n", scopes: "issues:write" as Bad }),
    'tokens.create: input.scopes must be an array of scopes, such as ["issues:write"], not a string',
  ],
  "pages by number": [
    (c) => c.projects.list({ page: 2, per_page: 50 } as Bad).page(),
    'projects.list: params must not have the unknown keys "page", "per_page" (write cursor: the next_cursor of the page before; did you mean "limit"?); accepted: limit, cursor',
  ],
  "parameters in the place of a project": [
    (c) => c.sessions.list({ limit: 5 } as Bad).page(),
    "sessions.list: project must be a name, an id or a project, not an object without an id; the project is the first argument",
  ],
  "an address for one call": [
    (c) => c.sessions.get("s", { baseUrl: BASE } as Bad),
    `sessions.get: options must not have the unknown key "baseUrl" ("baseUrl" belongs in the options of the client); accepted: ${CALL_OPTIONS}`,
  ],
  "an unknown option": [
    (c) => c.tokens.revoke("t", { timeoutMS: 5 } as Bad),
    `tokens.revoke: options must not have the unknown key "timeoutMS" (did you mean "timeoutMs"?); accepted: ${CALL_OPTIONS}`,
  ],
};

test.each(Object.entries(CALLS))("%s", async (_, [call, message]) => {
  const error = (await rejection(call(wire.client()))) as Error;
  expect(error).toBeInstanceOf(ArgumentError);
  expect(error.message).toBe(message);
  expect(error).toMatchObject({ outcome: "not_sent" });
  expect(wire.sent).toHaveLength(0);
});

describe("a list that is not consumed", () => {
  const how = "use for await, .page() or .toArray()";

  test("says in each print that it was not sent, and how to consume it", () => {
    const list = wire.client().projects.list();
    const print = `Paginator { not sent yet: ${how} }`;
    expect([inspect(list), String(list), `${list as unknown as string}`, JSON.parse(JSON.stringify(list))]).toEqual(
      Array(4).fill(print),
    );
    expect(inspect({ list })).toContain(print);
    expect(wire.sent).toHaveLength(0);
  });

  test.each<[string, (list: Iterable<unknown>) => unknown]>([
    ["spread", (list) => [...list]],
    [
      "walked without await",
      (list) => {
        for (const item of list) return item;
        return undefined;
      },
    ],
    ["made an array", (list) => Array.from(list)],
  ])("says how to consume it when it is %s", (_, use) => {
    const list = wire.client().projects.list();
    expect(() => use(list as never)).toThrow(
      expect.objectContaining({ name: "ArgumentError", message: `a list is not sent before it is consumed: ${how}` }),
    );
    // @ts-expect-error it can be walked with await alone
    expect(() => void [...list]).toThrow(ArgumentError);
  });
});

describe("until without a boolean is refused when it first returns", () => {
  test.each<[string, () => unknown, string]>([
    ["nothing", () => undefined, "not undefined: does it lack a return?"],
    ["a promise of nothing", async () => undefined, "not undefined: does it lack a return?"],
    ["a state", () => "done", 'not "done"'],
  ])("%s", async (_, until, flaw) => {
    wire.reply(() => json({ id: "s", state: "on" }));
    const error = await rejection(wire.client().sessions.waitFor("s", { until: until as Bad }));
    expect(error).toBeInstanceOf(ArgumentError);
    expect((error as Error).message).toBe(`sessions.waitFor: until must return true or false, ${flaw}`);
    expect(wire.sent).toHaveLength(1);
  });
});

test("a token in the place of a key is not shown by any method of a list", async () => {
  const token = "onlyletters_inthis_secret"; // as a name might be
  const list = (params: object): Promise<unknown> => wire.client({ token }).projects.list(params).toArray();
  for (const refused of [
    list({ [token]: 1 }),
    wire
      .client({ token })
      .projects.list()
      .toArray({ [token]: 1 } as Bad),
  ]) {
    const error = (await rejection(refused)) as Error;
    expect(error.message).toContain('must not have the unknown key "[redacted]"');
    expectClean(error, [token]);
  }
});

test.each([1e21, 2 ** 53, 1.5])("a limit of %s, which has no text of its digits alone", async (limit) => {
  const error = (await rejection(wire.client().projects.list({ limit }).page())) as Error;
  expect(error).toBeInstanceOf(ArgumentError);
  expect(error.message).toBe(`projects.list: params.limit must be a safe integer, not ${limit}`);
});

describe("a token in the place of an id is refused before anything is sent", () => {
  const REFUSED = "the path or the query holds a token, which URLs must not: pass the id of its record";
  const USES: Readonly<Record<string, (client: Client, secret: string) => Promise<unknown>>> = {
    "tokens.rotate": (c, secret) => c.tokens.rotate(secret),
    "tokens.rotate with adopt": (c, secret) => c.tokens.rotate(secret, { adopt: true }),
    "tokens.revoke": (c, secret) => c.tokens.revoke(secret),
    "sessions.get": (c, secret) => c.sessions.get(secret),
    "sessions.list": (c, secret) => c.sessions.list(secret).page(),
    "issues.create": (c, secret) => c.issues.create(secret, issue),
    "a path value": (c, secret) => c.request({ method: "GET", path: path`/a/${`Bearer ${secret}`}` }),
    "a query value": (c, secret) => c.request({ method: "GET", path: path`/a`, query: { q: secret } }),
  };

  async function expectRefused(call: Promise<unknown>, secret: string): Promise<void> {
    const error = (await rejection(call)) as Error;
    expect(error).toMatchObject({ kind: "argument", outcome: "not_sent", attempts: 0 });
    expect(error).toMatchObject({ callId: expect.stringMatching(/^call_/), path: expect.stringContaining("/") });
    expect(error.message).toContain(REFUSED);
    expectClean(error, [secret]);
  }

  test.each(Object.entries(USES))("the client's own, in %s", async (_, use) => {
    await expectRefused(use(wire.client(), TOKEN), TOKEN);
    expect(wire.sent).toHaveLength(0);
  });

  // adopt is not for token providers
  const PROVIDED = Object.entries(USES).filter(([name]) => !name.includes("adopt"));
  test.each(PROVIDED)("that of a token provider, at its first call, in %s", async (_, use) => {
    await expectRefused(use(wire.client({ token: () => TOKEN }), TOKEN), TOKEN);
    await expectRefused(use(wire.client({ token: async () => TOKEN }), TOKEN), TOKEN);
    expect(wire.sent).toHaveLength(0);
  });

  test("one that became the client's own while the call waited", async () => {
    const next = "pat_next_oneTimeSecret";
    const first = gate();
    wire.reply(async () => {
      await first.opened;
      return json({ id: "s", state: "on" });
    });
    const client = wire.client({ maxConcurrency: 1 });
    const calls = [client.sessions.get("s"), expectRefused(client.sessions.get(next), next)];
    while (wire.sent.length === 0) await new Promise((resolve) => setImmediate(resolve));
    client.setToken(next);
    first.open();
    await Promise.all(calls);
    expect(wire.sent.map(({ path }) => path)).toEqual(["/sessions/s"]);
  });

  test("one that became the client's own after an attempt that may have been applied", async () => {
    const next = "pat_next_oneTimeSecret";
    const client = wire.client({ retry: { minDelayMs: 0 } });
    wire.reply(() => {
      client.setToken(next);
      return json({}, 500);
    });
    const error = await rejection(client.tokens.revoke(next));
    expect(error).toMatchObject({ kind: "argument", outcome: "unknown", attempts: 1 });
    expect(wire.sent).toHaveLength(1);
  });

  test("one with characters that are encoded", async () => {
    const token = "pat/key+secret=&1234";
    await expectRefused(wire.client({ token }).sessions.get(token), token);
    expect(wire.sent).toHaveLength(0);
  });

  // Of its prefix, with a key and a secret, and at least as long: another token of the same service.
  const LIKE_IT = "pat_otherkey_aSecretOfAnotherTokenOfIt";

  test.each(Object.entries(USES))("one of the form of the client's own, in %s", async (_, use) => {
    await expectRefused(use(wire.client(), LIKE_IT), LIKE_IT);
    await expectRefused(use(wire.client().withOptions({ timeoutMs: 5 }), LIKE_IT), LIKE_IT);
    expect(wire.sent).toHaveLength(0);
  });

  test.each(PROVIDED)("one of the form of a provider's, in %s", async (_, use) => {
    await expectRefused(use(wire.client({ token: () => TOKEN }), LIKE_IT), LIKE_IT);
    expect(wire.sent).toHaveLength(0);
  });

  test.each(Object.entries(USES))("the one that the client was swapped from, in %s", async (_, use) => {
    const client = wire.client();
    client.setToken("pat_next_oneTimeSecret");
    await expectRefused(use(client, TOKEN), TOKEN);
    expect(wire.sent).toHaveLength(0);
  });

  test.each<[why: string, id: string, token?: string]>([
    ["it is shorter", "pat_publickey_s3cr3tTailOfTheToke"],
    ["it has another prefix", "tok_publickey_s3cr3tTailOfTheTokenAndMore"],
    ["it has no secret", "pat_publickeyThatIsLongerThanTheWholeToken"],
    ["its secret is empty", "pat_publickeyThatIsLongerThanTheWholeToken_"],
    ["it has no key", "pat__s3cr3tTailOfTheTokenThatIsLongerThanThat"],
    ["the client's own is opaque", "pat_otherkey_aSecretOfAnotherTokenOfIt", "opaque0123456789"],
    ["the client's own has no key", "opaque_otherkey_aSecretOfAnotherTokenOfIt", "opaque_0123456789"],
  ])("an id is an id if %s", async (_, id, token = TOKEN) => {
    wire.reply(() => json({ id, state: "on" }));
    expect(await wire.client({ token }).sessions.get(id)).toMatchObject({ id });
    expect(wire.sent).toHaveLength(1);
  });

  test("a plaintext that was handed out is kept nowhere", async () => {
    const plaintext = `pat_new_${"oneTimeSecret".repeat(4)}`;
    const record = { id: "tok_2", name: "n", key_id: "k", scopes: [], expires_at: "2030-01-01T00:00:00Z" };
    wire.reply(() => json({ ...record, plaintext }, 201));
    const client = wire.client();
    const kept: WeakRef<object>[] = [];
    await (async () => {
      kept.push(new WeakRef(await client.tokens.create({ name: "n", scopes: [] })));
      kept.push(new WeakRef(await client.tokens.rotate("tok_1")));
    })();
    expectClean(client, [plaintext]);
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void; // as just exposed
    for (let round = 0; round < 5; round += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
    expect(kept.map((record) => record.deref())).toEqual([undefined, undefined]);
  });

  test("one that no URL can hold stops no later call", async () => {
    const token = { id: "t", name: "n", key_id: "k", scopes: [], expires_at: "2030-01-01T00:00:00Z" };
    wire.reply(() => json({ ...token, plaintext: "\ud800 has no UTF-8" }, 201));
    const client = wire.client();
    await client.tokens.create({ name: "n", scopes: [] });
    wire.reply(() => json({ id: "s", state: "on" }));
    expect(await client.sessions.get("an-id-that-is-longer-than-that")).toMatchObject({ state: "on" });
  });
});
