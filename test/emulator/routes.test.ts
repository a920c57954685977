import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Client, path } from "../../src/client/index.ts";
import { createEmulator, type EmulatorRoute } from "../../src/testing/index.ts";
import { ask, type Opened, post, transports } from "./transports.ts";

const LABELS: EmulatorRoute = {
  method: "POST",
  path: "/projects/{project}/labels/{label}",
  scope: "issues:write",
  handle: ({ params, query, body }) => ({ status: 201, headers: { "x-made": "yes" }, body: { params, query, body } }),
};

describe.each(transports)("an endpoint of a test's own over $name", ({ open }) => {
  let opened: Opened;
  beforeEach(async () => {
    opened = await open({ rateLimit: { limit: 3 } });
  });
  afterEach(async () => opened[Symbol.asyncDispose]());

  test("gets the values of the path, the query and the body, and responds", async () => {
    opened.emulator.route(LABELS);
    const response = await post(opened, "/projects/a%2Fb/labels/%C3%A4?x=1", { json: { colour: "red" } });
    expect([response.status, response.headers.get("x-made")]).toEqual([201, "yes"]);
    expect(response.body).toEqual({
      params: { project: "a/b", label: "ä" },
      query: { x: "1" },
      body: { colour: "red" },
    });
    expect(response.headers.get("ratelimit-remaining")).toBe("2");
    expect(opened.emulator.requests[0]).toMatchObject({
      path: "/projects/a%2Fb/labels/%C3%A4",
      operation: undefined,
      applied: true,
      faulty: false,
      outcome: "completed",
      status: 201,
    });
  });

  test("stands behind tokens, scopes and the rate limit", async () => {
    let calls = 0;
    opened.emulator.route({ ...LABELS, handle: () => ({ body: { calls: ++calls } }) });
    const weak = opened.emulator.createToken({ scopes: ["issues:read"] }).plaintext;
    const powerless = opened.emulator.createToken({ scopes: ["issues:admin"], permissions: [] }).plaintext;
    const statuses: number[] = [];
    for (const token of [null, "unknown", weak, powerless, ...Array.from({ length: 4 }, () => opened.emulator.token)]) {
      statuses.push((await post(opened, "/projects/web/labels/new", { token })).status);
    }
    expect(statuses).toEqual([401, 401, 403, 403, 200, 200, 200, 429]);
    expect(calls).toBe(3);
    expect((await ask(opened, "/projects/web/labels/new")).status).toBe(429);
  });

  test("can be made to fail, before and after it was carried out", async () => {
    let calls = 0;
    opened.emulator.route({ ...LABELS, handle: () => ({ body: { calls: ++calls } }) });
    const match = (request: { readonly path: string }): boolean => request.path.includes("/labels/");
    opened.emulator.fault({ match, status: 503 });
    opened.emulator.fault({ match, drop: "after" });
    expect((await post(opened, "/projects/web/labels/new")).status).toBe(503);
    expect(calls).toBe(0);
    await expect(post(opened, "/projects/web/labels/new")).rejects.toThrow(TypeError);
    expect(calls).toBe(1);
    expect((await post(opened, "/projects/web/labels/new")).body).toEqual({ calls: 2 });
  });

  test("another method is refused, with those that there are", async () => {
    opened.emulator.route(LABELS);
    opened.emulator.route({ ...LABELS, method: "PUT" });
    const { status, headers } = await ask(opened, "/projects/web/labels/new");
    expect([status, headers.get("allow")]).toEqual([405, "PUT, POST"]);
  });
});

describe("an endpoint of a test's own", () => {
  const over = (emulator: ReturnType<typeof createEmulator>): Opened => ({
    emulator,
    fetch: emulator.fetch,
    [Symbol.asyncDispose]: async () => undefined,
  });

  test("serves a client", async () => {
    const emulator = createEmulator();
    const labels: string[] = [];
    emulator.route({
      method: "PUT",
      path: "/projects/{project}/labels",
      handle: ({ params, body }) => {
        if (emulator.projects.get(params["project"] ?? "") === undefined) {
          return { status: 404, body: { error: "not_found", message: "there is no such project" } };
        }
        labels.push(JSON.stringify(body));
        return {};
      },
    });
    const client = new Client(emulator.clientOptions);
    const put = (project: string): Promise<unknown> =>
      client.request({ method: "PUT", path: path`/projects/${project}/labels`, json: ["bug"] });
    expect(await put("web")).toBeUndefined();
    expect(labels).toEqual(['["bug"]']);
    await expect(put("nope")).rejects.toMatchObject({ kind: "not_found", outcome: "rejected" });
  });

  test("responds with text, bytes, JSON or nothing", async () => {
    const emulator = createEmulator();
    const bodies = { text: "a,b", bytes: new Uint8Array([1, 2]), json: { a: 1 }, nothing: undefined };
    emulator.route({
      method: "GET",
      path: "/{kind}",
      handle: ({ params }) => ({ body: bodies[params["kind"] as keyof typeof bodies] }), // those that are asked for
    });
    const seen: unknown[] = [];
    for (const kind of Object.keys(bodies)) {
      const { status, headers, text } = await ask(over(emulator), `/${kind}`);
      seen.push([status, headers.get("content-type"), text]);
    }
    expect(seen).toEqual([
      [200, "text/plain; charset=utf-8", "a,b"],
      [200, "application/octet-stream", "\u0001\u0002"],
      [200, "application/json; charset=utf-8", '{"a":1}'],
      [204, null, ""],
    ]);
    emulator.route({
      method: "GET",
      path: "/a/page",
      handle: () => ({ headers: { "content-type": "text/html" }, body: "<p>" }),
    });
    expect((await ask(over(emulator), "/a/page")).headers.get("content-type")).toBe("text/html");
  });

  test("is found before another one with the same method and path", async () => {
    const emulator = createEmulator();
    for (const body of ["first", "latest"])
      emulator.route({ method: "GET", path: "/projects", handle: () => ({ body }) });
    expect((await ask(over(emulator), "/projects")).text).toBe("latest");
  });

  test.each<[string, () => unknown, string]>([
    [
      "throws",
      () => {
        throw new Error("my bug");
      },
      "Error: my bug",
    ],
    ["is async", async () => ({}), "the response of /odd must not be a promise: a request is answered in one step"],
    ["rejects", async () => Promise.reject(new Error("no")), "the response of /odd must not be a promise"],
    [
      "returns a header that HTTP forbids",
      () => ({ headers: { "x y": "1" } }),
      'the response of /odd: headers: "x y" has',
    ],
    ["returns a header of two lines", () => ({ headers: { x: "1\n2" } }), 'headers: "x" has a name or a value'],
    ["returns Headers", () => ({ headers: new Headers() }), "headers must be a plain object of header fields"],
    ["returns nothing", () => null, "the response of /odd must be an object such as { status }, not null"],
    ["returns the body itself", () => ({ labels: [] }), 'the response of /odd must not have the unknown key "labels"'],
    [
      "returns no status",
      () => ({ status: 20 }),
      "the response of /odd.status must be an integer from 200 to 599, not 20",
    ],
  ])("that %s is answered 500, with the reason", async (_, handle, message) => {
    const emulator = createEmulator();
    emulator.route({ method: "GET", path: "/odd", handle: handle as EmulatorRoute["handle"] });
    const { status, body } = await ask(over(emulator), "/odd");
    expect([status, body.error]).toEqual([500, "emulator_error"]);
    expect(body.message).toContain(message);
    expect(emulator.requests[0]?.applied).toBe(false);
  });

  test.each<[string, object, string]>([
    ["no path", { path: undefined }, "route.path must be a path such as /projects/{project}/labels"],
    ["a path of a whole URL", { path: "https://x.invalid/a" }, "route.path must be a path such as"],
    ["a path with a query", { path: "/a?b=1" }, "route.path must be a path such as"],
    ["a name that stands twice", { path: "/{a}/{a}" }, "route.path must be a path such as"],
    ["a method in small letters", { method: "get" }, 'route.method must be an HTTP method in capitals, not "get"'],
    ["no handler", { handle: {} }, "route.handle must be a function"],
    ["a misspelt field", { scopes: [] }, 'route must not have the unknown key "scopes"'],
  ])("with %s is refused", (_, wrong, message) => {
    const emulator = createEmulator();
    const define = (): unknown => emulator.route({ ...LABELS, ...wrong });
    expect(define).toThrow(TypeError);
    expect(define).toThrow(message);
  });
});
