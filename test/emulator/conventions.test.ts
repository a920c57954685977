import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { type Conventions, createEmulator, type EmulatorOptions, resolveConventions } from "../../src/testing/index.ts";
import type { Opened, ReadResponse } from "./transports.ts";
import { ask, post, transports } from "./transports.ts";

const NOW = Date.UTC(2026, 0, 1);

describe.each(transports)("conventions over $name", ({ open }) => {
  let opened: Opened | undefined;
  afterEach(() => opened?.[Symbol.asyncDispose]());
  const start = async (conventions: Conventions, options: EmulatorOptions = {}): Promise<Opened> => {
    opened = await open({ now: () => NOW, ...options, conventions });
    return opened;
  };
  const get = async (
    conventions: Conventions,
    path = "/projects",
    options: EmulatorOptions = {},
  ): Promise<ReadResponse> => ask(await start(conventions, options), path);
  const fields = ({ headers }: ReadResponse, ...names: string[]): (string | null)[] =>
    names.map((name) => headers.get(name));

  test.each([
    ["null", { data: [], next_cursor: null }],
    ["empty", { data: [], next_cursor: "" }],
    ["missing", { data: [] }],
  ] as const)("a list ends with next_cursor %s", async (endOfList, body) => {
    expect((await get({ endOfList }, "/projects", { projects: 0 })).body).toEqual(body);
  });

  test.each(["null", "empty", "missing"] as const)(
    "a page before the end has a cursor, %s or not",
    async (endOfList) => {
      const { body } = await get({ endOfList }, "/projects?limit=1");
      expect(body.next_cursor).toMatch(/./);
    },
  );

  test("a limit out of range is rejected; each bound has its own convention", async () => {
    const conventions: Conventions = {
      limitTooSmall: "refuse",
      limitTooLarge: "refuse",
      refusals: { limitTooSmall: { status: 400, code: "too_small" }, limitTooLarge: { status: 416 } },
    };
    const small = await get(conventions, "/projects?limit=0");
    expect([small.status, small.body.error]).toEqual([400, "too_small"]);
    const large = await ask(await start(conventions), "/projects?limit=201");
    expect([large.status, large.body.error]).toEqual([416, "invalid_request"]);
    expect((await get(conventions, "/projects?limit=200")).status).toBe(200);
    expect((await get({ limitTooLarge: "refuse" }, "/projects?limit=0")).status).toBe(200);
    expect((await get({ limitTooSmall: "refuse" }, "/projects?limit=201")).status).toBe(200);
  });

  test("the rate limit headers have other names, another form, or are absent", async () => {
    const named = await get({ rateLimitHeaders: { limit: "X-RateLimit-Limit", remaining: "X-RateLimit-Left" } });
    expect(fields(named, "x-ratelimit-limit", "x-ratelimit-left", "ratelimit-limit")).toEqual(["600", "599", null]);
    const rateLimit = { limit: 9, windowMs: 30_000 };
    const formed = await get({ rateLimitHeaders: { form: "number_and_window" } }, "/projects", { rateLimit });
    expect(fields(formed, "ratelimit-limit", "ratelimit-remaining")).toEqual(["9, 9;w=30", "8"]);
    const absent = await get({ rateLimitHeaders: { limit: null, remaining: null } });
    expect([...absent.headers.keys()].filter((name) => name.startsWith("ratelimit"))).toEqual([]);
  });

  test.each([
    ["seconds", "60"],
    ["date", "Thu, 01 Jan 2026 00:02:00 GMT"],
    [null, null],
  ] as const)("Retry-After of a 429 is %s", async (retryAfter, value) => {
    const refused = await get({ retryAfter, clockOffsetMs: 60_000 }, "/projects", { rateLimit: { limit: 0 } });
    expect([refused.status, ...fields(refused, "retry-after")]).toEqual([429, value]);
  });

  test("CORS names an origin and what it exposes, or is off", async () => {
    const cors = { allowOrigin: "https://app.example", exposeHeaders: ["Retry-After"] };
    const names = ["access-control-allow-origin", "access-control-expose-headers"];
    expect(fields(await get({ cors }), ...names)).toEqual(["https://app.example", "Retry-After"]);
    expect(fields(await get({ cors: { exposeHeaders: [] } }), ...names)).toEqual(["*", null]);
    expect(fields(await get({ cors: { allowOrigin: null } }), ...names)).toEqual([null, null]);
  });

  test("a preflight gets a response and is not logged, unless CORS is off", async () => {
    const preflight = { method: "OPTIONS", headers: { "access-control-request-method": "GET" }, token: null };
    const on = await start({});
    expect((await ask(on, "/projects", preflight)).status).toBe(204);
    expect(on.emulator.requests).toEqual([]);
    expect((await ask(await start({ cors: { allowOrigin: null } }), "/projects", preflight)).status).toBe(401);
  });

  test("success has other statuses, and records have more fields", async () => {
    const conventions: Conventions = {
      successStatus: { "tokens.create": 200, "tokens.revoke": 202, "tokens.rotate": 200, "issues.create": 202 },
      extraFields: { issue: { labels: ["a"] }, token: { created_at: "2026" } },
    };
    const service = await start(conventions);
    const created = await post(service, "/me/tokens", { json: { name: "x", scopes: [] } });
    expect([created.status, created.body]).toMatchObject([200, { created_at: "2026" }]);
    expect((await post(service, `/me/tokens/${created.body.id}/rotate`)).status).toBe(200);
    const { id } = service.emulator.createToken({ scopes: [] });
    expect((await ask(service, `/me/tokens/${id}`, { method: "DELETE" })).status).toBe(202);
    const issue = await post(service, "/projects/web/issues", { json: { title: "x", type: "bug" } });
    expect([issue.status, issue.body]).toMatchObject([202, { labels: ["a"] }]);
  });
});

describe("resolveConventions", () => {
  const status = fc.integer({ min: 400, max: 599 });
  const code = fc.stringMatching(/^[a-z_]{1,20}$/);
  const header = fc.stringMatching(/^[A-Za-z][A-Za-z-]{0,19}$/);
  const text = fc.stringMatching(/^[!-~]{1,20}$/);
  const conventions = fc.record(
    {
      refusals: fc.dictionary(fc.constantFrom("unknownToken", "missingScope"), fc.record({ status, code }), {
        maxKeys: 2,
      }),
      successStatus: fc.record({ "issues.create": fc.integer({ min: 200, max: 299 }) }),
      extraFields: fc.record({ project: fc.dictionary(header, fc.jsonValue()) }),
      basePath: fc.stringMatching(/^(\/[a-z0-9]{1,5}){1,3}$/),
      endOfList: fc.constantFrom("null" as const, "empty" as const, "missing" as const),
      limitTooSmall: fc.constantFrom("clamp" as const, "refuse" as const),
      rateLimitHeaders: fc.record({ limit: fc.option(header), remaining: fc.option(header) }, { requiredKeys: [] }),
      retryAfter: fc.constantFrom("seconds" as const, "date" as const, null),
      cors: fc.record({ allowOrigin: fc.option(text), exposeHeaders: fc.array(header) }, { requiredKeys: [] }),
      requestIdHeader: fc.option(header),
      clockOffsetMs: fc.integer({ min: -1_000_000, max: 1_000_000 }),
      tokenLifetimeDays: fc.integer({ min: 1, max: 3_650 }),
      issueTypes: fc.option(fc.array(text)),
    },
    { requiredKeys: [] },
  );

  test("keeps what is passed, fills the rest, and is its own fixed point, through JSON too", () => {
    const property = (given: Conventions): void => {
      const resolved = resolveConventions(given);
      expect(resolved).toMatchObject(JSON.parse(JSON.stringify(given)) as object);
      expect(resolveConventions(JSON.parse(JSON.stringify(resolved)))).toEqual(resolved);
      expect(Object.keys(resolved).sort()).toEqual(Object.keys(resolveConventions()).sort());
    };
    fc.assert(fc.property(conventions, property), { numRuns: 300 });
  });

  test.each<[unknown, string]>([
    [null, "conventions must be an object such as { refusals }, not null"],
    [{ endOfPage: "null" }, 'unknown key "endOfPage"; accepted: refusals, '],
    [{ endOfList: null }, "conventions.endOfList must be one of null, empty, missing, not null"],
    [{ limitTooSmall: "drop" }, "conventions.limitTooSmall must be one of clamp, refuse"],
    [{ basePath: "v1" }, 'conventions.basePath must be a path that begins with "/"'],
    [{ basePath: "/v1/" }, "conventions.basePath"],
    [{ basePath: "/v1/.." }, "conventions.basePath"],
    [{ contentType: "json" }, "conventions.contentType must be a content type"],
    [
      { rateLimitHeaders: { limit: "a b" } },
      "conventions.rateLimitHeaders.limit must be the name of a header, or null",
    ],
    [{ rateLimitHeaders: { name: "x" } }, 'conventions.rateLimitHeaders must not have the unknown key "name"'],
    [{ rateLimitHeaders: { form: "float" } }, "conventions.rateLimitHeaders.form must be one of number, "],
    [{ retryAfter: "minutes" }, "conventions.retryAfter must be one of seconds, date, or null"],
    [{ cors: { allowOrigin: "" } }, "conventions.cors.allowOrigin must be a header value, or null"],
    [{ cors: { exposeHeaders: "Date" } }, "conventions.cors.exposeHeaders must be an array of header names"],
    [{ cors: { exposeHeaders: ["a b"] } }, "conventions.cors.exposeHeaders must be an array of header names"],
    [{ requestIdHeader: "" }, "conventions.requestIdHeader"],
    [{ clockOffsetMs: 0.5 }, "conventions.clockOffsetMs must be an integer from "],
    [{ extraFields: { project: [] } }, "conventions.extraFields.project must be an object, not an array"],
    [{ extraFields: { projects: {} } }, "conventions.extraFields must not have the unknown key"],
    [{ refusals: { unknownToken: { status: 200 } } }, "conventions.refusals.unknownToken.status must be an integer"],
    [{ refusals: { unknownToken: 401 } }, "conventions.refusals.unknownToken must be an object, not 401"],
    [
      { successStatus: { "issues.create": 302 } },
      "conventions.successStatus.issues.create must be an integer from 200",
    ],
    [
      { tokenLifetimeDays: 11, maxTokenLifetimeDays: 10 },
      "conventions.tokenLifetimeDays must be an integer from 1 to 10",
    ],
  ])("%j is a TypeError that says where and what is accepted", (given, message) => {
    expect(() => resolveConventions(given)).toThrow(TypeError);
    expect(() => resolveConventions(given)).toThrow(message);
    expect(() => createEmulator({ conventions: given as Conventions })).toThrow(TypeError); // without types
  });
});
