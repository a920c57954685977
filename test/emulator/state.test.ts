import { beforeEach, describe, expect, test, vi } from "vitest";
import { Client } from "../../src/client/index.ts";
import { SCOPES } from "../../src/service/scopes.ts";
import type { Emulator, EmulatorOptions, RecordedRequest } from "../../src/testing/index.ts";
import { createEmulator, seededRandom } from "../../src/testing/index.ts";
import type { Opened, ReadResponse, SentRequest } from "./transports.ts";
import { ask, post } from "./transports.ts";

let emulator: Emulator;
beforeEach(() => {
  emulator = createEmulator();
});

const over = (emulator: Emulator): Opened => ({
  emulator,
  fetch: emulator.fetch,
  [Symbol.asyncDispose]: async () => undefined,
});
const get = (path: string, asked?: SentRequest): Promise<ReadResponse> => ask(over(emulator), path, asked);

/** Everything that a test can see of the state. */
const snapshot = (of: Emulator): unknown => ({
  token: of.token,
  projects: of.projects.list(),
  sessions: of.sessions.list(),
  issues: of.projects.list().map(({ id }) => of.issues.list(id)),
  tokens: of.tokens.list(),
  owners: of.owners.list(),
});

describe("what an emulator begins with", () => {
  test("three projects of three sessions, and a token with full access", () => {
    expect(emulator.baseUrl).toBe("https://emulator.invalid/api/v1");
    expect(emulator.projects.list().map(({ name }) => name)).toEqual(["web", "api", "docs"]);
    const [first, ...others] = emulator.sessions.list();
    expect(first).toMatchObject({ id: "ses_1", state: "queued", states: ["queued", "running", "done"] });
    expect(emulator.sessions.list("web").map(({ id }) => id)).toContain("ses_1");
    expect(others.map(({ state }) => state)).toEqual(Array(8).fill("running"));
    expect(emulator.tokens.list()).toMatchObject([{ owner: "owner", scopes: SCOPES, state: "active" }]);
    expect(emulator.owners.list()).toEqual([{ id: "owner", permissions: SCOPES }]);
    expect(emulator.requests).toEqual([]);
  });

  test("the rows and settings of the options", () => {
    const seeded = createEmulator({
      baseUrl: "http://localhost:8080/gateway/api/v1//",
      tokenPrefix: "acme",
      permissions: ["projects:read"],
      sessionsPerProject: 1,
      projects: [
        { id: "p1", name: "a/b", sessions: [{ id: "s1", state: "waiting" }, {}] },
        { id: "p2", issues: [{ title: "x", type: "bug", status: "closed" }] },
        {},
      ],
    });
    expect(seeded.baseUrl).toBe("http://localhost:8080/gateway/api/v1");
    expect(seeded.token).toMatch(/^acme_[a-z0-9]+_[a-z0-9]+$/);
    expect(seeded.owners.get("owner")?.permissions).toEqual(["projects:read"]);
    expect(seeded.projects.list()).toMatchObject([
      { id: "p1", name: "a/b" },
      { name: "project-2" },
      { name: "project-3" },
    ]);
    expect(seeded.sessions.list("p1")).toMatchObject([{ id: "s1", state: "waiting" }, { state: "running" }]);
    expect(seeded.sessions.list("p2")).toHaveLength(1);
    expect(seeded.issues.list("a/b")).toEqual([]);
    expect(seeded.issues.list("p2")).toEqual([{ number: 1, title: "x", type: "bug", status: "closed" }]);
  });

  test.each<[string, unknown, string]>([
    [
      "an unknown option",
      { project: 3 },
      'options must not have the unknown key "project" (did you mean "projects"?); accepted: projects, ',
    ],
    ["options that are no object", 3, "options must be an object such as { projects }, not 3"],
    ["null", null, "options must be an object such as { projects }, not null"],
    [
      "a negative count",
      { projects: -1 },
      "projects must be an integer of at least 0, or an array of projects, not -1",
    ],
    ["a count of NaN", { sessionsPerProject: Number.NaN }, "sessionsPerProject must be an integer"],
    ["a project that is a string", { projects: ["web"] }, "projects[0] must be an object"],
    [
      "an unknown field of a project",
      { projects: [{ title: "web" }] },
      'projects[0] must not have the unknown key "title"',
    ],
    ["a name that is no string", { projects: [{ name: 7 }] }, "projects[0].name must be a non-empty string, not 7"],
    ["two projects of one id", { projects: [{ id: "a" }, { id: "a" }] }, 'there is a project with the id "a" already'],
    [
      "two projects of one name",
      { projects: [{ name: "a" }, { name: "a" }] },
      'there is a project with the name "a" already',
    ],
    ["a state that is no string", { projects: [{ sessions: [{ state: 1 }] }] }, "session.state must be"],
    [
      "permissions that are no array",
      { permissions: "projects:read" },
      "permissions must be an array of non-empty strings",
    ],
    ["a rate limit of true", { rateLimit: true }, "rateLimit must be an object"],
    ["a rate limit without a limit", { rateLimit: {} }, "rateLimit.limit must be an integer of at least 0"],
    ["a window of 0", { rateLimit: { limit: 1, windowMs: 0 } }, "rateLimit.windowMs"],
    ["a clock that is no function", { now: 5 }, "now must be a function"],
    [
      "a clock without a time",
      { now: () => Number.NaN },
      "the result of now() must be a number of milliseconds, not NaN",
    ],
    ["a relative base URL", { baseUrl: "/api/v1" }, "baseUrl must be an absolute http(s) URL"],
    ["a base URL with a query", { baseUrl: "https://x/api/v1?a" }, "baseUrl"],
    ["a base URL with credentials", { baseUrl: "https://:secret@x/api/v1" }, "baseUrl"],
    ["another protocol", { baseUrl: "ftp://x/api/v1" }, "baseUrl"],
    ["a prefix with a space", { tokenPrefix: "a b" }, "tokenPrefix"],
    ["an unknown convention", { conventions: { status: 1 } }, 'conventions must not have the unknown key "status"'],
    [
      "an unknown refusal",
      { conventions: { refusals: { nope: {} } } },
      'conventions.refusals must not have the unknown key "nope"',
    ],
    [
      "a refusal of 200",
      { conventions: { refusals: { unknownProject: { status: 200 } } } },
      "conventions.refusals.unknownProject.status must be an integer from 400 to 599",
    ],
    ["a success of 404", { conventions: { successStatus: { "issues.create": 404 } } }, "from 200 to 299"],
  ])("%s is a TypeError", (_, options, message) => {
    // What a caller without types may pass.
    const act = (): unknown => createEmulator(options as EmulatorOptions);
    expect(act).toThrow(TypeError);
    expect(act).toThrow(message);
  });
});

/** The key of a world in a token. */
const worldIn = (token: string): string | undefined => /^emu_([0-9a-z]{8})/.exec(token)?.[1];

/** `createEmulator` as in a program that has just begun: the number of emulators in the process is forgotten. */
async function inNewProcess(): Promise<typeof createEmulator> {
  vi.resetModules();
  return (await import("../../src/testing/index.ts")).createEmulator;
}

describe("options that change the service", () => {
  test("clientOptions is what a client needs, and nothing else", () => {
    const { baseUrl, token, fetch } = emulator;
    expect(emulator.clientOptions).toEqual({ baseUrl, token, fetch });
  });

  test("sessions go through their states, one with each GET, and stay in the last", async () => {
    const states = ["queued", "running", "done"];
    const moving = createEmulator({ sessionStates: states, projects: [{ id: "p", sessions: [{ id: "s" }, {}] }] });
    const seen: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      const [listed] = (await ask(over(moving), "/projects/p/sessions")).body.data;
      seen.push(`${listed?.state} ${(await ask(over(moving), "/sessions/s")).body.state}`);
    }
    expect(seen).toEqual(["queued queued", "running running", "done done", "done done"]);
    moving.sessions.update("s", { state: "running" });
    expect((await ask(over(moving), "/sessions/s")).body.state).toBe("running");
    expect(moving.sessions.get("s")?.state).toBe("done");
    moving.sessions.update("s", { state: "elsewhere" });
    await ask(over(moving), "/sessions/s");
    expect(moving.sessions.get("s")?.state).toBe("elsewhere");
  });

  test("a session may have states of its own", async () => {
    const moving = createEmulator({ sessionStates: ["a", "b"], projects: [] });
    const { id: project } = moving.projects.create({});
    const own = moving.sessions.create(project, { id: "own", states: ["x", "y"] });
    moving.sessions.create(project, { id: "usual" });
    moving.sessions.create(project, { id: "still", states: [], state: "z" });
    expect(own).toEqual({ id: "own", project, state: "x", states: ["x", "y"] });
    const seen: string[] = [];
    for (const id of ["own", "own", "usual", "usual", "still", "still"]) {
      seen.push((await ask(over(moving), `/sessions/${id}`)).body.state);
    }
    expect(seen).toEqual(["x", "y", "a", "b", "z", "z"]);
  });

  test("issues are listed behind an option: with their scope, page by page", async () => {
    const issues = ["a", "b", "c"].map((title) => ({ title, type: "bug" }));
    const listing = createEmulator({ listIssues: true, projects: [{ name: "web", issues }] });
    const { body } = await ask(over(listing), "/projects/web/issues?limit=2");
    expect(body.data).toEqual(listing.issues.list("web").slice(0, 2));
    const rest = await ask(over(listing), `/projects/web/issues?cursor=${encodeURIComponent(body.next_cursor ?? "")}`);
    expect(rest.body).toEqual({ data: listing.issues.list("web").slice(2), next_cursor: null });
    expect(listing.requests[0]?.operation).toBe("issues.list");
    const { plaintext: token } = listing.createToken({ scopes: ["projects:admin"] });
    expect((await ask(over(listing), "/projects/web/issues", { token })).status).toBe(403);
    expect((await get("/projects/web/issues")).status).toBe(405);
  });
});

describe("ids and tokens", () => {
  const live = async (of: Emulator): Promise<unknown> => {
    const issued = of.createToken({ scopes: ["projects:read"] });
    of.projects.create();
    of.sessions.create("web");
    const { body } = await ask(over(of), "/projects?limit=1");
    return [snapshot(of), issued, body];
  };
  const at = (): Emulator => createEmulator({ now: () => 0 });

  test("are the same in every run, and from the same source", async () => {
    for (const seed of [undefined, 7]) {
      const make = async (): Promise<Emulator> =>
        (await inNewProcess())({ now: () => 0, random: seed === undefined ? undefined : seededRandom(seed) });
      expect(await live(await make())).toEqual(await live(await make()));
    }
  });

  test("of two emulators in a program tell their worlds apart; names and other ids do not", () => {
    const [one, two] = [at(), at()];
    expect(two.projects.list()).toEqual(one.projects.list());
    expect(two.sessions.list()).toEqual(one.sessions.list());
    const idsOf = ({ tokens }: Emulator): string[] => tokens.list().map(({ id }) => id);
    expect(idsOf(two)).toEqual(idsOf(one));
    expect(worldIn(two.token)).not.toBe(worldIn(one.token));
  });

  test("each token of an emulator bears its world: created, rotated, and after reset()", async () => {
    const one = at();
    const world = worldIn(one.token);
    const created = one.createToken({ scopes: ["projects:read"] });
    const client = new Client(one.clientOptions);
    const rotated = await client.tokens.rotate(created.id);
    one.reset();
    const later = one.createToken({ scopes: [] });
    for (const { key_id, plaintext } of [created, rotated, later]) {
      expect([key_id.slice(0, 8), worldIn(plaintext)]).toEqual([world, world]);
    }
  });

  test("of another emulator are refused, both ways", async () => {
    const [one, two] = [at(), at()];
    const ask = async (service: Emulator, { token }: Emulator): Promise<number> =>
      (await service.fetch(`${service.baseUrl}/projects`, { headers: { authorization: `Bearer ${token}` } })).status;
    expect([await ask(one, one), await ask(two, one), await ask(one, two), await ask(two, two)]).toEqual([
      200, 401, 401, 200,
    ]);
  });
});

describe("reset", () => {
  test.each([undefined, seededRandom(3)])("brings everything back", async (random) => {
    const one = createEmulator({ now: () => 0, random, rateLimit: { limit: 2 } });
    const before = snapshot(one);
    const { token, requests } = one;
    const issued = one.createToken({ scopes: ["projects:read"], permissions: ["projects:read"] });
    one.projects.delete("web");
    one.sessions.create("api");
    one.issues.create("docs", { title: "x", type: "bug" });
    one.owners.update("owner", { permissions: [] });
    one.leak(token);
    one.fault({ status: 500, times: Infinity });
    one.setRateLimit({ limit: 0 });
    await ask(over(one), "/projects");
    expect(snapshot(one)).not.toEqual(before);
    one.reset();
    expect(snapshot(one)).toEqual(before);
    expect(one.token).toBe(token);
    expect(one.requests).toEqual([]);
    expect(one.requests).toBe(requests);
    const { status, headers } = await ask(over(one), "/projects");
    expect([status, headers.get("ratelimit-remaining")]).toEqual([200, "1"]);
    expect((await ask(over(one), "/projects", { token: issued.plaintext })).status).toBe(401);
  });
});

describe("the tables", () => {
  test("projects are renamed and deleted, with all that is in them", async () => {
    const { id } = emulator.projects.update("web", { name: "site" });
    expect(emulator.projects.get("site")?.id).toBe(id);
    expect(emulator.projects.get("web")).toBeUndefined();
    const [session] = emulator.sessions.list("site");
    emulator.projects.delete("site");
    expect([emulator.projects.get(id), emulator.sessions.get(session?.id ?? "")]).toEqual([undefined, undefined]);
    expect(emulator.projects.create({ name: "web" }).name).toBe("web");
    expect((await get("/projects")).body.data.map(({ name }) => name)).toEqual(["api", "docs", "web"]);
  });

  test("rows cannot be changed from outside", () => {
    const [project] = emulator.projects.list();
    expect(Object.isFrozen(project)).toBe(true);
    emulator.projects.list().pop();
    expect(emulator.projects.list()).toHaveLength(3);
  });

  test("owners have tokens of their own", async () => {
    const { id: owner } = emulator.owners.create({ permissions: ["projects:read"] });
    const { plaintext: token } = emulator.createToken({ scopes: SCOPES, owner });
    expect((await get("/projects", { token })).status).toBe(200);
    expect((await get("/projects/web/sessions", { token })).status).toBe(403);
    emulator.owners.update(owner, { permissions: ["sessions:read"] });
    expect((await get("/projects", { token })).status).toBe(403);
    expect((await get("/projects/web/sessions", { token })).status).toBe(200);
  });

  test.each<[string, (of: Emulator) => unknown]>([
    ["an unknown project", (of) => of.sessions.list("nope")],
    ["an unknown session", (of) => of.sessions.update("nope", { state: "x" })],
    ["an unknown issue", (of) => of.issues.update("web", { number: 9, status: "x" })],
    ["an unknown owner", (of) => of.createToken({ scopes: [], owner: "nope" })],
    ["an owner and permissions", (of) => of.createToken({ scopes: [], owner: "owner", permissions: [] })],
    ["a name that is taken", (of) => of.projects.update("web", { name: "api" })],
    ["a session id that is taken", (of) => of.sessions.create("api", { id: of.sessions.list()[0]?.id })],
    ["an owner id that is taken", (of) => of.owners.create({ id: "owner" })],
    ["an empty state", (of) => of.sessions.create("web", { state: "" })],
    ["a lifetime of 0 days", (of) => of.createToken({ scopes: [], expires_in_days: 0 })],
  ])("%s is a TypeError, and nothing has changed", (_, act) => {
    const before = snapshot(emulator);
    expect(() => act(emulator)).toThrow(TypeError);
    expect(snapshot(emulator)).toEqual(before);
  });
});

describe("the log", () => {
  test("records each request and its result", async () => {
    let now = 1_000;
    const one = createEmulator({ now: () => now++ });
    const { plaintext: token, key_id } = one.createToken({ scopes: ["issues:write"] });
    const json = { title: "x", type: "bug" };
    await post(over(one), "/projects/web/issues?a=1&b=%20&a=2", { token, json, headers: { "x-thing": "1" } });
    await ask(over(one), "/projects", { token });
    await ask(over(one), "/projects");
    expect(one.requests).toHaveLength(3);
    expect(one.requests[0]).toMatchObject({
      index: 0,
      at: 1002,
      endedAt: 1003,
      method: "POST",
      url: "/api/v1/projects/web/issues?a=1&b=%20&a=2",
      path: "/projects/web/issues",
      query: { a: "2", b: " " },
      operation: "issues.create",
      attempt: 1,
      token: key_id,
      text: JSON.stringify(json),
      body: json,
      inFlight: 0,
      requestId: "req_1",
      status: 201,
      code: undefined,
      applied: true,
      faulty: false,
      outcome: "completed",
    });
    expect(one.requests[0]?.headers["x-thing"]).toBe("1");
    expect(one.requests.map(({ inFlight }) => inFlight)).toEqual([0, 0, 0]);
    expect(one.requests[1]).toMatchObject({
      status: 403,
      code: "forbidden",
      applied: false,
      attempt: 1,
      body: undefined,
    });
    expect(one.requests[2]).toMatchObject({ operation: "projects.list", attempt: 2 });
  });

  test("holds no secret", async () => {
    const unknown = "Bearer emu_unknown_secret-of-another-service";
    await get("/projects");
    await get("/projects", { token: null, headers: { authorization: unknown } });
    await get("/projects", { token: null, headers: { authorization: "secret-without-a-scheme" } });
    const [known] = emulator.tokens.list();
    expect(emulator.requests.map(({ headers }) => headers["authorization"])).toEqual([
      `Bearer emu_${known?.key_id}_***`,
      "Bearer ***",
      "***",
    ]);
    const printed = JSON.stringify(emulator.requests);
    expect(printed).not.toContain("secret");
    expect(printed).not.toContain(emulator.token);
  });

  test("keeps logLimit requests, and counts on", async () => {
    const short = createEmulator({ logLimit: 2 });
    for (let index = 0; index < 5; index += 1) await ask(over(short), "/projects");
    expect(short.requests.map(({ index, attempt }) => [index, attempt])).toEqual([
      [3, 4],
      [4, 5],
    ]);
  });

  test("calls the listener, and ignores what it throws", async () => {
    const logged: RecordedRequest[] = [];
    const one = createEmulator({
      onRequest: (request) => {
        logged.push(request);
        throw new Error("my mistake");
      },
    });
    expect((await ask(over(one), "/projects")).status).toBe(200);
    expect(logged).toEqual(one.requests);
    expect(logged[0]?.outcome).toBe("completed");
  });
});

describe("conventions", () => {
  const json = { title: "x", type: "bug" };

  test("set lifetimes, types, statuses and states", async () => {
    const opened = over(
      createEmulator({
        now: () => 0,
        conventions: {
          tokenLifetimeDays: 1,
          maxTokenLifetimeDays: 2,
          issueTypes: ["bug", "task"],
          issueStatus: "triage",
          sessionState: "queued",
        },
      }),
    );
    const create = (days?: number): Promise<ReadResponse> =>
      post(opened, "/me/tokens", { json: { name: "x", scopes: [], expires_in_days: days } });
    expect((await create()).body.expires_at).toBe("1970-01-02T00:00:00.000Z");
    expect((await create(2)).status).toBe(201);
    expect((await create(3)).status).toBe(422);
    const issue = await post(opened, "/projects/web/issues", { json });
    expect(issue.body).toMatchObject({ status: "triage" });
    const refused = await post(opened, "/projects/web/issues", { json: { title: "x", type: "epic" } });
    expect([refused.status, refused.body.message]).toEqual([422, "type must be one of bug, task"]);
    expect(opened.emulator.sessions.list()[0]?.state).toBe("queued");
  });
});
