import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { EmulatorOptions } from "../../src/testing/index.ts";
import type { Opened, ReadResponse, SentRequest } from "./transports.ts";
import { ask, post, transports } from "./transports.ts";

const NEW_ISSUE = { title: "It breaks", type: "bug" };

describe.each(transports)("the API documentation over $name", ({ open }) => {
  let now: number;
  let opened: Opened;
  const start = async (options: EmulatorOptions = {}): Promise<void> => {
    opened = await open({ now: () => now, ...options });
  };
  const reopen = async (options: EmulatorOptions): Promise<void> => {
    await opened[Symbol.asyncDispose]();
    await start(options);
  };
  const get = (path: string, asked?: SentRequest): Promise<ReadResponse> => ask(opened, path, asked);
  const send = (path: string, asked?: SentRequest): Promise<ReadResponse> => post(opened, path, asked);
  const mint = (...scopes: string[]): string => opened.emulator.createToken({ scopes }).plaintext;

  beforeEach(async () => {
    now = Date.UTC(2026, 0, 1);
    await start();
  });
  afterEach(() => opened[Symbol.asyncDispose]());

  describe("tokens", () => {
    test("creation returns the record, and the whole token once", async () => {
      const { status, body } = await send("/me/tokens", {
        json: { name: "ci", scopes: ["projects:read", "issues:write"], expires_in_days: 7 },
      });
      expect(status).toBe(201);
      const { id, key_id, plaintext, ...rest } = body;
      expect(rest).toEqual({
        name: "ci",
        scopes: ["projects:read", "issues:write"],
        expires_at: "2026-01-08T00:00:00.000Z",
      });
      expect(id).toMatch(/^tok_/);
      expect(plaintext).toMatch(new RegExp(`^emu_${key_id}_\\w+$`));
      expect(opened.emulator.tokens.get(id)).toMatchObject({ id, key_id, state: "active" });
      expect(JSON.stringify(opened.emulator.tokens.list())).not.toContain(plaintext);
      expect((await get("/projects", { token: plaintext })).status).toBe(200);
    });

    test("a lifetime is 90 days by default", async () => {
      const { body } = await send("/me/tokens", { json: { name: "ci", scopes: ["projects:read"] } });
      expect(body.expires_at).toBe("2026-04-01T00:00:00.000Z");
    });

    test.each([
      ["a scope it does not hold", ["projects:read", "issues:read"], "the creator lacks the scope"],
      ["a higher action", ["projects:read", "projects:write"], "the creator lacks the scope"],
      ["one scope too many", ["projects:admin", "projects:read", "issues:read"], "the creator lacks the scope"],
      ["a scope outside of the table", ["sessions:read", "sessions:write"], "there is no scope"],
      ["a malformed scope", ["projects:admin", "projects"], "there is no scope"],
    ])("a token cannot create one with %s, and hears which", async (_, scopes, problem) => {
      const [held = "", wanted] = [scopes[0], scopes.at(-1)];
      const before = opened.emulator.tokens.list().length + 1;
      const { status, body } = await send("/me/tokens", { token: mint(held), json: { name: "x", scopes } });
      expect([status, body.error, body.message]).toEqual([403, "forbidden", `${problem} "${wanted}"`]);
      expect(opened.emulator.tokens.list()).toHaveLength(before);
    });

    test.each([[{ scopes: [] }], [{}]])("created with %j it can do nothing, everywhere 403", async (scopes) => {
      const { body } = await send("/me/tokens", { json: { name: "idle", ...scopes } });
      expect(body.scopes).toEqual([]);
      const token = body.plaintext;
      const answers = await Promise.all([
        get("/projects", { token }),
        get("/projects/web/sessions", { token }),
        get("/sessions/nope", { token }),
        get("/no/such/route", { token }),
        send("/me/tokens", { token, json: { name: "x", scopes: [] } }),
        send(`/me/tokens/${body.id}/rotate`, { token }),
        ask(opened, `/me/tokens/${body.id}`, { method: "DELETE", token }),
        send("/projects/web/issues", { token, json: NEW_ISSUE }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual(Array.from(answers, () => 403));
    });

    test("revocation takes effect at once, and only once", async () => {
      const { plaintext, id } = opened.emulator.createToken({ scopes: ["projects:read"] });
      const revoked = await ask(opened, `/me/tokens/${id}`, { method: "DELETE" });
      expect([revoked.status, revoked.text]).toEqual([204, ""]);
      const used = await get("/projects", { token: plaintext });
      expect([used.status, used.body.error]).toEqual([401, "unauthorized"]);
      expect((await ask(opened, `/me/tokens/${id}`, { method: "DELETE" })).status).toBe(404);
      expect(opened.emulator.tokens.get(id)?.state).toBe("revoked");
    });

    test("rotation replaces the token in one step, with scopes and lifetime kept", async () => {
      const old = opened.emulator.createToken({ name: "ci", scopes: ["projects:read"], expires_in_days: 10 });
      now += 24 * 60 * 60 * 1000;
      const { status, body } = await send(`/me/tokens/${old.id}/rotate`, { token: old.plaintext });
      expect(status).toBe(201);
      expect(body).toMatchObject({ name: "ci", scopes: ["projects:read"], expires_at: "2026-01-12T00:00:00.000Z" });
      expect(body.id).not.toBe(old.id);
      expect(body.key_id).not.toBe(old.key_id);
      expect((await get("/projects", { token: old.plaintext })).status).toBe(401);
      expect((await get("/projects", { token: body.plaintext })).status).toBe(200);
      expect((await send(`/me/tokens/${old.id}/rotate`)).status).toBe(404);
    });

    test("rotation is no way to a more powerful token", async () => {
      const strong = opened.emulator.createToken({ scopes: ["projects:admin"] });
      const weak = mint("projects:write");
      expect((await send(`/me/tokens/${strong.id}/rotate`, { token: weak })).status).toBe(403);
      expect((await get("/projects", { token: strong.plaintext })).status).toBe(200);
    });

    test("the tokens of others are out of reach", async () => {
      const other = opened.emulator.createToken({ scopes: ["projects:read"], permissions: ["projects:read"] });
      expect((await send(`/me/tokens/${other.id}/rotate`)).status).toBe(404);
      expect((await ask(opened, `/me/tokens/${other.id}`, { method: "DELETE" })).status).toBe(404);
      expect((await get("/projects", { token: other.plaintext })).status).toBe(200);
    });

    test("a token ends with its expires_at", async () => {
      const { plaintext: token, expires_at } = opened.emulator.createToken({ scopes: ["projects:read"] });
      now = Date.parse(expires_at) - 1;
      expect((await get("/projects", { token })).status).toBe(200);
      now += 1;
      expect((await get("/projects", { token })).status).toBe(401);
    });

    test("secret scanning revokes what it finds", async () => {
      const { plaintext: token, id } = opened.emulator.createToken({ scopes: ["projects:read"] });
      expect(opened.emulator.leak("nothing to see")).toEqual([]);
      expect(opened.emulator.leak(`export TOKEN=${token}\n`)).toMatchObject([{ id, state: "revoked" }]);
      expect((await get("/projects", { token })).status).toBe(401);
      expect((await get("/projects")).status).toBe(200);
    });

    test.each([
      ["no name", { scopes: [] }],
      ["an empty name", { name: "", scopes: [] }],
      ["a name that is no string", { name: 7, scopes: [] }],
      ["scopes that are no array", { name: "x", scopes: "projects:read" }],
      ["a scope that is no string", { name: "x", scopes: ["projects:read", 1] }],
      ["expires_in_days 0", { name: "x", scopes: [], expires_in_days: 0 }],
      ["expires_in_days 1.5", { name: "x", scopes: [], expires_in_days: 1.5 }],
      ["expires_in_days null", { name: "x", scopes: [], expires_in_days: null }],
      ["expires_in_days out of all bounds", { name: "x", scopes: [], expires_in_days: Number.MAX_SAFE_INTEGER }],
    ])("%s is refused", async (_, json) => {
      const { status, body } = await send("/me/tokens", { json });
      expect([status, body.error]).toEqual([422, "invalid_request"]);
    });
  });

  describe("authentication", () => {
    test.each([
      ["no header", {}],
      ["another scheme", { authorization: "Basic abc" }],
      ["no token", { authorization: "Bearer" }],
      ["an unknown token", { authorization: "Bearer emu_aaaa_bbbb" }],
      ["two tokens", { authorization: "Bearer emu_aaaa_bbbb emu_cccc_dddd" }],
    ])("%s: 401, with the headers of every response", async (_, headers) => {
      const { status, body, headers: received } = await get("/projects", { token: null, headers });
      expect([status, body.error]).toEqual([401, "unauthorized"]);
      expect(received.get("www-authenticate")).toBe("Bearer");
      expect(Number(received.get("ratelimit-limit"))).toBeGreaterThan(0);
      expect(Number(received.get("ratelimit-remaining"))).toBeGreaterThan(0);
    });

    test.each([
      ["projects:read", "projects:read"],
      ["projects:write", "projects:read"],
      ["projects:admin", "projects:read"],
      ["issues:admin", "issues:write"],
    ])("%s allows %s", async (held, needed) => {
      expect((await callThatNeeds(needed, mint(held))).status).toBeLessThan(300);
    });

    test.each([
      ["issues:read", "issues:write"],
      ["issues:admin", "projects:read"],
      ["sessions:read", "projects:read"],
      ["projects:admin", "sessions:read"],
      ["projects", "projects:read"],
    ])("%s does not allow %s", async (held, needed) => {
      const { status, body } = await callThatNeeds(needed, mint(held));
      expect([status, body.error]).toEqual([403, "forbidden"]);
      expect(body.message).toContain(needed);
    });

    test("a token never does what its owner may not", async () => {
      await reopen({ permissions: ["projects:read"] });
      expect((await get("/projects")).status).toBe(200);
      expect((await callThatNeeds("issues:write", opened.emulator.token)).status).toBe(403);
      opened.emulator.owners.update("owner", { permissions: ["issues:admin"] });
      expect((await callThatNeeds("issues:write", opened.emulator.token)).status).toBe(201);
      expect((await get("/projects")).status).toBe(403);
      const json = { name: "x", scopes: ["projects:read"] };
      expect((await send("/me/tokens", { json })).status).toBe(403);
    });

    const callThatNeeds = (scope: string, token: string): Promise<ReadResponse> => {
      if (scope === "projects:read") return get("/projects", { token });
      if (scope === "issues:write") return send("/projects/web/issues", { token, json: NEW_ISSUE });
      return get("/projects/web/sessions", { token });
    };
  });

  describe("projects, issues and sessions", () => {
    const NAMES = ["web", "a/b", "two words", "προξ ✓ 🚀", "%2F", "..%2f", "?#&;:@\\'\"", "__proto__", "constructor"];

    test.each(NAMES)("a project is reached by the name %j and by its id", async (name) => {
      await reopen({ projects: [{ name, sessions: [{ id: "ses_1", state: "running" }] }, {}] });
      const [project] = (await get("/projects")).body.data;
      expect(project?.name).toBe(name);
      const byName = await get(`/projects/${encodeURIComponent(name)}/sessions`);
      expect(byName.body.data).toEqual([{ id: "ses_1", state: "running" }]);
      expect((await get(`/projects/${project?.id}/sessions`)).body).toEqual(byName.body);
      expect(opened.emulator.requests.at(-2)?.path).toBe(`/projects/${encodeURIComponent(name)}/sessions`);
    });

    test("an id wins over a name that looks like it", async () => {
      await reopen({
        projects: [
          { id: "one", name: "two" },
          { id: "two", name: "three" },
        ],
        sessionsPerProject: 0,
      });
      await send("/projects/two/issues", { json: NEW_ISSUE });
      expect(opened.emulator.issues.list("one")).toEqual([]);
      expect(opened.emulator.issues.list("two")).toHaveLength(1);
    });

    test("issues are numbered in each project", async () => {
      const create = async (project: string): Promise<unknown> =>
        (await send(`/projects/${project}/issues`, { json: NEW_ISSUE })).body;
      expect(await create("web")).toEqual({ number: 1, ...NEW_ISSUE, status: "open" });
      expect(await create("web")).toEqual({ number: 2, ...NEW_ISSUE, status: "open" });
      expect(await create("api")).toEqual({ number: 1, ...NEW_ISSUE, status: "open" });
      expect(opened.emulator.issues.list("web").map(({ number }) => number)).toEqual([1, 2]);
    });

    test.each([
      ["no title", { type: "bug" }],
      ["an empty title", { title: "", type: "bug" }],
      ["a title that is no string", { title: ["x"], type: "bug" }],
      ["no type", { title: "x" }],
    ])("an issue with %s is refused", async (_, json) => {
      const { status, body } = await send("/projects/web/issues", { json });
      expect([status, body.error]).toEqual([422, "invalid_request"]);
      expect(opened.emulator.issues.list("web")).toEqual([]);
    });

    test.each([
      ["/projects/nope/issues", { method: "POST", json: NEW_ISSUE }],
      ["/projects/nope/sessions", {}],
      ["/sessions/nope", {}],
    ])("%s is not found", async (path, asked) => {
      const { status, body } = await ask(opened, path, asked);
      expect([status, body.error]).toEqual([404, "not_found"]);
    });

    test("a session's state is what the test says", async () => {
      const { id } = opened.emulator.sessions.create("api");
      expect((await get(`/sessions/${id}`)).body).toEqual({ id, state: "running" });
      opened.emulator.sessions.update(id, { state: "done" });
      expect((await get(`/sessions/${id}`)).body).toEqual({ id, state: "done" });
      opened.emulator.sessions.delete(id);
      expect((await get(`/sessions/${id}`)).status).toBe(404);
    });
  });

  describe("lists", () => {
    const sizes = async (query: string): Promise<number> => (await get(`/projects${query}`)).body.data.length;

    test("a page has 50 items, or from 1 to 200 of them", async () => {
      await reopen({ projects: 250, sessionsPerProject: 0 });
      expect(await sizes("")).toBe(50);
      for (const [limit, size] of [
        ["0", 1],
        ["-7", 1],
        ["1", 1],
        ["49", 49],
        ["200", 200],
        ["201", 200],
        ["99999999999999999999", 200],
      ] as const) {
        expect([limit, await sizes(`?limit=${limit}`)]).toEqual([limit, size]);
      }
    });

    test.each(["", "abc", "1.5", "1e2", "NaN"])("a limit of %j is refused", async (limit) => {
      expect((await get(`/projects?limit=${limit}`)).status).toBe(422);
    });

    test.each(["/projects", "/projects/project-1/sessions"])("%s ends where next_cursor is null", async (path) => {
      await reopen({ projects: 7, sessionsPerProject: 7 });
      const seen: string[] = [];
      const cursors: (string | null)[] = [];
      let query = "?limit=3";
      for (;;) {
        const { body } = await get(path + query);
        seen.push(...body.data.map(({ id }) => id));
        cursors.push(body.next_cursor);
        if (body.next_cursor === null) break;
        query = `?limit=3&cursor=${encodeURIComponent(body.next_cursor)}`;
      }
      const all = path === "/projects" ? opened.emulator.projects.list() : opened.emulator.sessions.list("project-1");
      expect(seen).toEqual(all.map(({ id }) => id));
      expect(cursors).toEqual([expect.any(String), expect.any(String), null]);
    });

    test("an invented or altered cursor, or one of another list, is rejected", async () => {
      const { next_cursor: cursor } = (await get("/projects?limit=1")).body;
      const { next_cursor: foreign } = (await get("/projects/web/sessions?limit=1")).body;
      const altered = `${cursor?.startsWith("A") ? "B" : "A"}${cursor?.slice(1)}`;
      for (const bad of ["", "nope", altered, foreign ?? "", ` ${cursor}`, `${cursor}=`]) {
        const { status, body } = await get(`/projects?cursor=${encodeURIComponent(bad)}`);
        expect([bad, status, body.error]).toEqual([bad, 400, "invalid_cursor"]);
        expect(body.message).not.toBe("");
      }
    });
  });

  describe("the rate limit", () => {
    const quota = ({ headers }: ReadResponse): unknown[] =>
      ["ratelimit-limit", "ratelimit-remaining", "retry-after"].map((name) => headers.get(name));

    test("counts per token, responds with 429, and starts again after the window", async () => {
      await reopen({ rateLimit: { limit: 2 } });
      const other = mint("projects:read");
      expect(quota(await get("/projects"))).toEqual(["2", "1", null]);
      now += 20_500;
      expect(quota(await get("/nowhere"))).toEqual(["2", "0", null]);
      const refused = await send("/projects/web/issues", { json: NEW_ISSUE });
      expect([refused.status, refused.body.error]).toEqual([429, "too_many_requests"]);
      expect(quota(refused)).toEqual(["2", "0", "40"]);
      expect(opened.emulator.issues.list("web")).toEqual([]);
      expect(quota(await get("/projects", { token: other }))).toEqual(["2", "1", null]);
      now += 39_499;
      expect(quota(await get("/projects"))).toEqual(["2", "0", "1"]);
      now += 1;
      expect(quota(await get("/projects"))).toEqual(["2", "1", null]);
    });

    test("is 600 a minute by default, and can be changed", async () => {
      expect(quota(await get("/projects"))).toEqual(["600", "599", null]);
      opened.emulator.setRateLimit({ limit: 1, windowMs: 2_000 });
      expect(quota(await get("/projects"))).toEqual(["1", "0", null]);
      expect(quota(await get("/projects"))).toEqual(["1", "0", "2"]);
      opened.emulator.setRateLimit(false);
      expect(quota(await get("/projects"))).toEqual(["1000000", "1000000", null]);
    });
  });

  describe("what is no request of the API documentation", () => {
    test.each([
      ["GET", "/me/tokens", "POST"],
      ["PUT", "/projects", "GET"],
      ["PATCH", "/sessions/x", "GET"],
      ["DELETE", "/projects/web/issues", "POST"],
      ["GET", "/me/tokens/x/rotate", "POST"],
    ])("%s %s: 405", async (method, path, allow) => {
      const { status, body, headers } = await ask(opened, path, { method });
      expect([status, body.error, headers.get("allow")]).toEqual([405, "method_not_allowed", allow]);
    });

    test.each(["", "/", "/projects/", "/projects//sessions", "/me", "/projects/%zz/sessions", "/sessions/a/b"])(
      "%j: 404",
      async (path) => {
        const { status, body } = await get(path);
        expect([status, body.error]).toEqual([404, "not_found"]);
        expect(opened.emulator.requests.at(-1)?.operation).toBeUndefined();
      },
    );

    test.each([
      ["no body", ""],
      ["half an object", '{"title":'],
      ["an array", "[]"],
      ["null", "null"],
      ["a number", "1"],
    ])("%s as a body: 400", async (_, text) => {
      const { status, body } = await send("/projects/web/issues", { body: text });
      expect([status, body.error]).toEqual([400, "bad_request"]);
    });

    test("a body of a mebibyte is read, a larger one is rejected", async () => {
      const json = { ...NEW_ISSUE, padding: "" };
      json.padding = "x".repeat(1024 * 1024 - JSON.stringify(json).length);
      expect((await send("/projects/web/issues", { json })).status).toBe(201);
      json.padding += "x";
      const { status, body } = await send("/projects/web/issues", { json });
      expect([status, body.error]).toEqual([413, "payload_too_large"]);
      expect((await get("/projects")).status).toBe(200);
    });

    test("every response has an id, a date by the emulator's clock, and JSON", async () => {
      const { headers } = await get("/projects");
      expect(headers.get("x-request-id")).toBe(opened.emulator.requests.at(-1)?.requestId);
      expect(headers.get("date")).toBe("Thu, 01 Jan 2026 00:00:00 GMT");
      expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
    });
  });
});
