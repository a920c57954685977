/** The mistakes that are commonly made, each with the message that it gets: a wrong value, or a member in the wrong place. */
import { inspect } from "node:util";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  ArgumentError,
  type CallOptions,
  Client,
  type ClientOptions,
  ConfigError,
  memoryRateLimiter,
  path,
  rotatingToken,
} from "../../../../src/client/index.ts";
import { ProjectSchema } from "../../../../src/service/schemas/index.ts";
import { rejection } from "../../../support/promises.ts";
import { json } from "../../../support/replies.ts";
import { BASE, openWire, TOKEN } from "../../../support/scripted-fetch.ts";
import { expectClean } from "../../../support/sweep.ts";

const wire = openWire();
type Bad = never; // the types reject it, but callers without types may pass it

const issue = { title: "t", type: "bug" };
const token = { name: "n", scopes: [] };

/** The options, by the types: a new one is a line here, and no other test names them all. */
const CLIENT_OPTIONS: Readonly<Record<keyof ClientOptions, true>> = {
  baseUrl: true,
  token: true,
  timeoutMs: true,
  totalTimeoutMs: true,
  retry: true,
  headers: true,
  maxConcurrency: true,
  rateLimiter: true,
  fetch: true,
  fetchOptions: true,
  onEvent: true,
  logger: true,
  logLevel: true,
  instrumentation: true,
  validation: true,
  maxResponseBytes: true,
  allowInsecureHttp: true,
};
const OPTIONS_OF_CALLS: Readonly<Record<keyof CallOptions, true>> = {
  signal: true,
  timeoutMs: true,
  totalTimeoutMs: true,
  retry: true,
  headers: true,
  extra: true,
  onRequest: true,
  onResponse: true,
};
const CALL_OPTIONS = Object.keys(OPTIONS_OF_CALLS).join(", ");

const record = { id: "tok_1", plaintext: TOKEN, expires_at: "2030-01-01T00:00:00Z" };

/** Options of a client by the names of others, and what the message says in the place of what is accepted. */
const NAMES_OF_OTHERS: Readonly<Record<string, string>> = {
  baseURL: 'did you mean "baseUrl"?',
  userAgent: 'write headers: { "user-agent": … }',
  onResponse: '"onResponse" belongs in the last argument of a call; onEvent sees every call',
  idempotencyKey: "write nothing: the service has no idempotency keys; see error.outcome",
};

test.each(Object.entries(NAMES_OF_OTHERS))("a client's option by another client's name: %s", (name, hint) => {
  const options = { baseUrl: BASE, token: TOKEN, [name]: 1 };
  const message = expect.stringContaining(`options must not have the unknown key "${name}" (${hint}); accepted: `);
  expect(() => new Client(options)).toThrow(expect.objectContaining({ name: "ConfigError", message }));
});

test("an option that no client has: the message names all that a client has", () => {
  const problem = `options must not have the unknown key "zone"; accepted: ${Object.keys(CLIENT_OPTIONS).join(", ")}`;
  expect(() => new Client({ baseUrl: BASE, token: TOKEN, zone: 1 } as ClientOptions)).toThrow(
    new ConfigError(problem, { outcome: "not_sent" }),
  );
});

test.each<[string, object, string]>([
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
  ...["$TOKEN", "{{token}}", "YOUR_TOKEN_HERE"].map((token): [string, object, string] => [
    `a placeholder as token: ${token}`,
    { token },
    "token must be a token, not a placeholder or an unset variable",
  ]),
  [
    "a placeholder in the address",
    { baseUrl: "https://a.example/{tenant}/api/v1" },
    "baseUrl must not contain a placeholder ({)",
  ],
  ["a placeholder as address", { baseUrl: "<base-url>" }, "baseUrl must not contain a placeholder (<)"],
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
  [
    "a client of Redis as rateLimiter",
    {
      rateLimiter: new (class Redis {
        eval(): void {}
      })() as never,
    },
    "not an instance of Redis: pass redisRateLimiter({ client }) of project-automation/redis",
  ],
  ["an address with a query", { baseUrl: `${BASE}?x=1` }, "baseUrl must not contain ?"],
  [
    "an address with an invisible end",
    { baseUrl: `${BASE}\u200b` },
    "baseUrl must not contain white space, control or invisible",
  ],
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

const CALLS: Readonly<Record<string, readonly [(client: Client) => Promise<unknown>, string]>> = {
  "a cursor of null": [
    (c) => c.projects.list({ cursor: null } as Bad).page(),
    "projects.list: params.cursor must be a non-empty string of well-formed Unicode, not null: null marks the end of a list; leave the cursor out to begin",
  ],
  "toArray(10)": [
    (c) => c.projects.list().toArray(10 as Bad),
    "toArray: options must be an object such as { max }, not 10",
  ],
  "a promise of a project": [
    (c) => c.issues.create(Promise.resolve("web") as Bad, issue),
    "issues.create: project must be a name, an id or a project, not a promise: await it",
  ],
  "several unknown fields": [
    (c) => c.issues.create("web", { titel: "t", body: "b", issue_id2: 1 } as Bad),
    'issues.create: input must have title and type, and not have the unknown keys "titel", "body", "issue_id2" (if your service takes others, pass them in options.extra.json; did you mean "title"?); accepted: title, type',
  ],
  "a number for an id": [
    (c) => c.sessions.get(7 as Bad),
    "sessions.get: id must be a string, not 7; write String(value)",
  ],
  "a controller": [
    (c) => c.sessions.get("s", { signal: new AbortController() } as Bad),
    "sessions.get: options.signal must be an AbortSignal such as controller.signal, not an instance of AbortController",
  ],
  "a path as a string": [
    (c) => c.request({ method: "GET", path: "/projects/web" } as Bad),
    "request: request.path must be made with path`…`, which this package exports, not a string",
  ],
  "one scope": [
    (c) => c.tokens.create({ name: "n", scopes: "issues:write" as Bad }),
    'tokens.create: input.scopes must be an array of scopes, such as ["issues:write"], not a string',
  ],
};

/** Each argument with members, as messages name it: a call with one member more, and the accepted names. */
const PLACES = {
  "tokens.create: input": [(c, more) => c.tokens.create({ ...token, ...more }), "name, scopes, expires_in_days"],
  "issues.create: input": [(c, more) => c.issues.create("p", { ...issue, ...more }), "title, type"],
  "projects.list: params": [(c, more) => c.projects.list(more).page(), "limit, cursor"],
  "sessions.list: params": [(c, more) => c.sessions.list("p", more).page(), "limit, cursor"],
  "request: request": [
    (c, more) => c.request({ method: "POST", path: path`/x`, ...more }),
    "method, path, query, json, schema",
  ],
  "paginate: list": [
    (c, more) => c.paginate({ path: path`/x`, schema: ProjectSchema, ...more }).page(),
    "path, query, schema",
  ],
  "sessions.get: options": [(c, more) => c.sessions.get("s", more), CALL_OPTIONS],
  "projects.list: options": [(c, more) => c.projects.list({}, more).page(), `${CALL_OPTIONS}, prefetch`],
} satisfies Readonly<Record<string, readonly [(client: Client, more: object) => Promise<unknown>, string]>>;
type Place = keyof typeof PLACES;

const inOptions = (name: string): string => `"${name}" belongs in the last argument, options`;
const ofClients = Object.keys(CLIENT_OPTIONS).filter((name) => !(name in OPTIONS_OF_CALLS));
const withoutOptions = (Object.keys(PLACES) as Place[]).filter((place) => !place.endsWith("options")); // its own keys

test.each<readonly [Place, string, string]>([
  ["tokens.create: input", "expiresInDays", 'did you mean "expires_in_days"?'],
  ["issues.create: input", "status", "if your service takes others, pass them in options.extra.json"],
  ["sessions.list: params", "next_cursor", "write cursor: the next_cursor of the page before"],
  ["projects.list: options", "limit", '"limit" belongs in the argument before, params'],
  ["request: request", "body", 'did you mean "json"?'],
  ["paginate: list", "querry", 'did you mean "query"?'],
  ...ofClients.map(
    (name) => ["sessions.get: options", name, `"${name}" belongs in the options of the client`] as const,
  ),
  ...withoutOptions.flatMap((place) =>
    Object.keys(OPTIONS_OF_CALLS).map((name) => [place, name, inOptions(name)] as const),
  ),
])("%s with %s", async (place, key, hint) => {
  const [call, accepted] = PLACES[place];
  const error = (await rejection(call(wire.client(), { [key]: 1 }))) as Error;
  expect(error).toBeInstanceOf(ArgumentError);
  expect(error.message).toBe(`${place} must not have the unknown key "${key}" (${hint}); accepted: ${accepted}`);
  expect(error).toMatchObject({ outcome: "not_sent" });
  expect(wire.sent).toHaveLength(0);
});

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

  test("says how to consume it when it is walked without await", () => {
    const list = wire.client().projects.list();
    // @ts-expect-error it can be walked with await alone
    expect(() => void [...list]).toThrow(
      expect.objectContaining({ name: "ArgumentError", message: `a list is not sent before it is consumed: ${how}` }),
    );
  });
});

describe("until without a boolean is refused when it first returns", () => {
  test.each<[string, () => unknown, string]>([
    ["nothing", () => undefined, "not undefined: does it lack a return?"],
    ["a promise of nothing", async () => undefined, "not undefined: does it lack a return?"],
    ["a state", () => "done", 'not "done"'],
  ])("%s", async (_, until, problem) => {
    wire.reply(() => json({ id: "s", state: "on" }));
    const error = await rejection(wire.client().sessions.waitFor("s", { until: until as Bad }));
    expect(error).toBeInstanceOf(ArgumentError);
    expect((error as Error).message).toBe(`sessions.waitFor: until must return true or false, ${problem}`);
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

test.each([TOKEN, `X-${TOKEN}`, "x".repeat(41), "x".repeat(5_000), "\u001b[31m"])(
  "a key that may be a secret is not shown: %j",
  async (key) => {
    const error = await rejection(wire.client().tokens.create({ ...token, [key]: 1 }));
    expect(error).toBeInstanceOf(ArgumentError);
    expectClean(error, [key]);
  },
);
