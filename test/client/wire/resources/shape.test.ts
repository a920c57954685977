import { describe, expect, onTestFinished, test } from "vitest";
import { Client, path } from "../../../../src/client/index.ts";
import { respondJson } from "../../../support/raw-behaviours.ts";
import {
  type RawRequest,
  type RawServer,
  type RawServerOptions,
  rawServer,
  type Script,
} from "../../../support/raw-server.ts";

const TOKEN = "pat_public_0123456789abcdef";
const RECORDS = {
  id: "x",
  name: "n",
  key_id: "k",
  scopes: [],
  expires_at: "2030-01-01T00:00:00Z",
  plaintext: "pat_k_new",
  number: 1,
  title: "t",
  status: "open",
  state: "on",
  data: [],
  next_cursor: null,
};

/** A server that is closed when the test is over. */
async function serve(script: Script, options: RawServerOptions = {}): Promise<RawServer> {
  const server = await rawServer(script, options);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

/** A service that accepts every request. */
async function service(base = "/api/v1"): Promise<{ server: RawServer; client: Client }> {
  const server = await serve([respondJson(RECORDS)]);
  return { server, client: new Client({ baseUrl: server.origin + base, token: TOKEN }) };
}

const valuesOf = (request: RawRequest | undefined, name: string): string[] =>
  (request?.fields ?? []).filter(([key]) => key === name).map(([, value]) => value);

/** The seven calls of the API documentation, and the escape hatch. */
const CALLS: readonly (readonly [string, string, string, unknown, (client: Client) => Promise<unknown>])[] = [
  [
    "tokens.create",
    "POST",
    "/me/tokens",
    { name: "ci", scopes: ["issues:write", "issues:write"], expires_in_days: 30 },
    (c) => c.tokens.create({ name: "ci", scopes: ["issues:write", "issues:write"], expires_in_days: 30 }),
  ],
  ["tokens.rotate", "POST", "/me/tokens/t1/rotate", undefined, (c) => c.tokens.rotate("t1")],
  ["tokens.revoke", "DELETE", "/me/tokens/t1", undefined, (c) => c.tokens.revoke("t1")],
  [
    "projects.list",
    "GET",
    "/projects?limit=5&cursor=c",
    undefined,
    (c) => c.projects.list({ cursor: "c", limit: 5 }).toArray(),
  ],
  [
    "issues.create",
    "POST",
    "/projects/p/issues",
    { title: "t", type: "bug" },
    (c) => c.issues.create("p", { title: "t", type: "bug" }),
  ],
  [
    "sessions.list",
    "GET",
    "/projects/p/sessions?limit=5",
    undefined,
    (c) => c.sessions.list("p", { limit: 5 }).toArray(),
  ],
  ["sessions.get", "GET", "/sessions/s1", undefined, (c) => c.sessions.get("s1")],
  ["sessions.waitFor", "GET", "/sessions/s1", undefined, (c) => c.sessions.waitFor("s1", { until: () => true })],
  ["request GET", "GET", "/x?a=1", undefined, (c) => c.request({ method: "GET", path: path`/x`, query: { a: 1 } })],
  ["request HEAD", "HEAD", "/x", undefined, (c) => c.request({ method: "HEAD", path: path`/x` })],
  ["request PUT", "PUT", "/x", { a: [null] }, (c) => c.request({ method: "PUT", path: path`/x`, json: { a: [null] } })],
  ["request PATCH", "PATCH", "/x", 0, (c) => c.request({ method: "PATCH", path: path`/x`, json: 0 })],
  ["request POST", "POST", "/x", null, (c) => c.request({ method: "POST", path: path`/x`, json: null })],
  ["request DELETE", "DELETE", "/x", undefined, (c) => c.request({ method: "DELETE", path: path`/x` })],
];

describe("what is on the wire", () => {
  test.each(CALLS)("%s", async (...row) => {
    const [, method, target, body, call] = row;
    const { server, client } = await service();
    await call(client);
    expect(server.requests).toHaveLength(1);
    const [request] = server.requests;
    expect(request).toMatchObject({ method, target: `/api/v1${target}` });
    expect(request?.body === "" ? undefined : JSON.parse(request?.body ?? "")).toEqual(body);
    expect(valuesOf(request, "authorization")).toEqual([`Bearer ${TOKEN}`]);
    expect(valuesOf(request, "accept")).toEqual(["application/json"]);
    expect(valuesOf(request, "content-type")).toEqual(body === undefined ? [] : ["application/json"]);
    expect(valuesOf(request, "cookie")).toEqual([]);
    const names = request?.fields.map(([name]) => name) ?? [];
    expect(names.filter((name) => /^x-|idempotency|retry|attempt/.test(name))).toEqual([]);
    expect(request?.target + (request?.body ?? "")).not.toContain(TOKEN);
  });
});

describe("path values are encoded once, as one segment", () => {
  const values: readonly (readonly [string, string])[] = [
    ["a/b", "a%2Fb"],
    ["%2F", "%252F"],
    [" a ", "%20a%20"],
    ["a+b?c#d&e;f:g@h", "a%2Bb%3Fc%23d%26e%3Bf%3Ag%40h"],
    ["🚀", "%F0%9F%9A%80"],
    ["x/rotate", "x%2Frotate"],
  ];

  test.each(values)("%j", async (value, encoded) => {
    const { server, client } = await service();
    await client.issues.create(value, { title: "t", type: "bug" });
    await client.issues.create({ id: value, name: "other" }, { title: "t", type: "bug" });
    await client.sessions.list(value).toArray();
    await client.sessions.get(value);
    await client.tokens.revoke(value);
    await client.tokens.rotate(value);
    await client.request({ method: "GET", path: path`/${value}/x${value}` });
    const segment = encoded.replaceAll("'", "%27");
    expect(server.requests.map(({ target }) => target.replaceAll("'", "%27"))).toEqual([
      `/api/v1/projects/${segment}/issues`,
      `/api/v1/projects/${segment}/issues`,
      `/api/v1/projects/${segment}/sessions`,
      `/api/v1/sessions/${segment}`,
      `/api/v1/me/tokens/${segment}`,
      `/api/v1/me/tokens/${segment}/rotate`,
      `/api/v1/${segment}/x${segment}`,
    ]);
  });
});

describe("where the service is", () => {
  test.each([
    ["/api/v1", "/api/v1"],
    ["/api/v1///", "/api/v1"],
    ["/gateway/x/api/v1", "/gateway/x/api/v1"],
    ["/a%2Fb/v1", "/a%2Fb/v1"],
    ["", ""],
  ])("base path %j", async (given, base) => {
    const { server, client } = await service(given);
    await client.projects.list().toArray();
    await client.sessions.get("s");
    expect(server.requests.map(({ target }) => target)).toEqual([`${base}/projects`, `${base}/sessions/s`]);
  });
});

describe("what goes into a query", () => {
  test("undefined parameters are omitted, without a trailing question mark", async () => {
    const { server, client } = await service();
    await client.projects.list(undefined, undefined).toArray();
    await client.projects.list({ limit: undefined, cursor: undefined }).toArray();
    await client.request({ method: "GET", path: path`/x`, query: { a: undefined, b: [] } });
    expect(server.requests.map(({ target }) => target)).toEqual(["/api/v1/projects", "/api/v1/projects", "/api/v1/x"]);
  });

  test("arrays repeat a parameter, in order; names are encoded", async () => {
    const { server, client } = await service();
    await client.request({ method: "GET", path: path`/x`, query: { "a b": ["1", 2, true], "c&": "=", d: "" } });
    expect(server.requests[0]?.target).toBe("/api/v1/x?a%20b=1&a%20b=2&a%20b=true&c%26=%3D&d=");
  });

  test("paginate sends its query on every page, and starts at its cursor", async () => {
    const server = await serve(({ target }) =>
      respondJson({ data: [target], next_cursor: target.includes("cursor=two") ? null : "two" }),
    );
    const schema = { "~standard": { version: 1, vendor: "t", validate: (value: unknown) => ({ value }) } } as const;
    const client = new Client({ baseUrl: server.origin, token: "t" });
    const query = { state: ["a", "b"], cursor: "one" };
    const list = client.paginate({ path: path`/x`, query, schema });
    query.state.push("late");
    query.cursor = "late";
    expect(await list.toArray()).toEqual(["/x?state=a&state=b&cursor=one", "/x?state=a&state=b&cursor=two"]);
  });
});

describe("what goes into a body", () => {
  test("undefined fields are absent, and the input is not touched", async () => {
    const { server, client } = await service();
    const input = Object.freeze({ name: "n", scopes: Object.freeze([]), expires_in_days: undefined });
    await client.tokens.create(input);
    class Draft {
      type = "x";
      title = "t";
    }
    await client.issues.create("p", new Draft());
    expect(server.requests.map(({ body }) => body)).toEqual(['{"name":"n","scopes":[]}', '{"title":"t","type":"x"}']);
  });
});
