/** A cache may answer the reads that an application asks for: no write, and no poll. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { Client, path, rotatingToken } from "../../../../src/client/index.ts";
import { json, type Reply } from "../../../support/replies.ts";
import { BASE, scriptedFetch, TOKEN } from "../../../support/scripted-fetch.ts";

type Options = Readonly<Record<string, unknown>>;
const BROWSER = "Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0";
const input = { title: "t", type: "bug" };
const next = { revalidate: 60, tags: ["projects"] };
const dispatcher = { mark: "the same object" };

afterEach(() => {
  vi.unstubAllGlobals();
});

const answer: Reply = ({ index }) =>
  json({
    ...{ id: "s", state: `state ${index}`, number: 1, title: "t", status: "open", data: [], next_cursor: null },
    ...{ name: "n", key_id: "k", scopes: [], expires_at: "2099-01-01T00:00:00Z", plaintext: "pat_k_s" },
  });

/** The calls of an application, each alone, with the client that it is given. */
const READS: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
  "sessions.get": (client) => client.sessions.get("s"),
  "projects.list, a page": (client) => client.projects.list().page(),
  "projects.list, an array": (client) => client.projects.list({}, { prefetch: true }).toArray(),
  "sessions.list": (client) => client.sessions.list("p").toArray(),
  "a GET": (client) => client.request({ method: "GET", path: path`/x` }),
  "a HEAD": (client) => client.request({ method: "HEAD", path: path`/x` }),
};
const OTHERS: typeof READS = {
  "issues.create": (client) => client.issues.create("p", input),
  "tokens.create": (client) => client.tokens.create({ name: "n", scopes: [] }),
  "tokens.rotate": (client) => client.tokens.rotate("t"),
  "tokens.rotate, adopted": (client) => client.tokens.rotate("t", { adopt: true }),
  "tokens.revoke": (client) => client.tokens.revoke("t"),
  ...Object.fromEntries(
    (["POST", "PUT", "PATCH", "DELETE"] as const).map((method) => [
      `a ${method}`,
      (client: Client) => client.request({ method, path: path`/x` }),
    ]),
  ),
  "sessions.waitFor": (client) =>
    client.sessions.waitFor("s", { until: ({ state }) => state === "state 2", intervalMs: 1 }),
  "sessions.watch": async (client) => {
    for await (const { state } of client.sessions.watch("s", { intervalMs: 1 })) if (state === "state 2") break;
  },
};

/** The options of every request, beside what the client sets itself. */
async function optionsOf(call: (client: Client) => Promise<unknown>, make: (fetch: typeof globalThis.fetch) => Client) {
  const service = scriptedFetch(answer);
  const seen: Options[] = [];
  await call(
    make((url, init) => {
      const { method, headers, body, signal, redirect, credentials, ...others } = init as Options;
      seen.push(others);
      return service.fetch(url, init);
    }),
  );
  expect(seen.length).toBeGreaterThan(0);
  return seen;
}
const clientWith =
  (fetchOptions: Options) =>
  (fetch: typeof globalThis.fetch): Client =>
    new Client({ baseUrl: BASE, token: TOKEN, fetch, fetchOptions });

/** What is passed, what goes with a read, and what with everything else. Elsewhere, and in a browser. */
const ROWS: readonly (readonly [passed: Options, read: Options, other: Options])[] = [
  [{}, {}, {}],
  [{ dispatcher }, { dispatcher }, { dispatcher }],
  [
    { next, dispatcher },
    { next, dispatcher },
    { cache: "no-store", dispatcher },
  ],
  [{ next: null }, { next: null }, { cache: "no-store" }],
  [{ cache: "force-cache" }, { cache: "force-cache" }, { cache: "no-store" }],
  [{ next: undefined, cache: undefined, cf: undefined }, {}, {}],
  [{ cf: { polish: "off" } }, { cf: { polish: "off" } }, { cf: { polish: "off" } }],
  [
    { cf: { cacheTtl: 60, cacheEverything: true, cacheKey: "k", cacheTtlByStatus: { "200": 1 }, cacheTags: ["a"] } },
    { cf: { cacheTtl: 60, cacheEverything: true, cacheKey: "k", cacheTtlByStatus: { "200": 1 }, cacheTags: ["a"] } },
    { cf: {} },
  ],
  [
    { cf: { cacheTtl: 60, minify: true }, keepalive: true },
    { cf: { cacheTtl: 60, minify: true }, keepalive: true },
    { cf: { minify: true }, keepalive: true },
  ],
];

/** Each request of a call has these options, in a browser with a `cache` of its own. */
async function expectOptions(call: (client: Client) => Promise<unknown>, passed: Options, expected: Options) {
  for (const options of await optionsOf(call, clientWith(passed))) expect(options).toStrictEqual(expected);
  vi.stubGlobal("navigator", { userAgent: BROWSER });
  for (const options of await optionsOf(call, clientWith(passed)))
    expect(options).toStrictEqual({ cache: "no-store", ...expected });
}

test.each(ROWS)("fetchOptions %j go with a read, and without what a cache keeps with a write", async (...row) => {
  const [passed, read, other] = row;
  await expectOptions((client) => client.sessions.get("s"), passed, read);
  vi.unstubAllGlobals();
  await expectOptions((client) => client.issues.create("p", input), passed, other);
});

test.each(Object.entries(READS))("a read: %s", (_, call) =>
  expectOptions(call, { next, dispatcher }, { next, dispatcher }),
);

test.each(Object.entries(OTHERS))("not a read: %s", (_, call) =>
  expectOptions(call, { next, dispatcher }, { cache: "no-store", dispatcher }),
);

test("a rotation that a token begins by itself goes without them, beside a read that goes with them", async () => {
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  const token = rotatingToken({ token: { id: "tok_1", plaintext: TOKEN, expires_at }, onRotated: () => {} });
  const make = (fetch: typeof globalThis.fetch): Client =>
    new Client({ baseUrl: BASE, token, fetch, fetchOptions: { next } });
  const seen = await optionsOf((client) => client.sessions.get("s"), make);
  expect(seen).toHaveLength(2);
  expect(seen).toEqual(expect.arrayContaining([{ next }, { cache: "no-store" }]));
});

describe("cache-control, for caches on the way", () => {
  const POLLS = ["sessions.waitFor", "sessions.watch"];
  const saidBy = async (call: (client: Client) => Promise<unknown>, options = {}): Promise<unknown[]> => {
    const said: unknown[] = [];
    const service = scriptedFetch(answer);
    const fetch: typeof globalThis.fetch = (url, init) => {
      said.push(new Headers(init?.headers).get("cache-control"));
      return service.fetch(url, init);
    };
    await call(new Client({ baseUrl: BASE, token: TOKEN, fetch, ...options }));
    return [...new Set(said)];
  };

  test.each(Object.entries({ ...READS, ...OTHERS }))("%s", async (name, call) => {
    expect(await saidBy(call)).toEqual([POLLS.includes(name) ? "no-cache" : null]);
  });

  test.each(POLLS)(
    "%s: `headers` may replace it, and a page has none, which would need the permission of the service",
    async (name) => {
      const call = OTHERS[name] ?? (() => Promise.reject(new Error(name)));
      expect(await saidBy(call, { headers: { "cache-control": "max-age=0" } })).toEqual(["max-age=0"]);
      vi.stubGlobal("navigator", { userAgent: BROWSER });
      expect(await saidBy(call)).toEqual([null]);
    },
  );
});
