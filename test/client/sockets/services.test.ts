/** Two real services: a token, a header or a certificate of one never arrives at the other. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Client, type ClientOptions, rotatingToken } from "../../../src/client/index.ts";
import { type HttpServer, send, serve } from "../../support/http-server.ts";

const PRODUCTION = "pat_prod_theTokenOfProduction";
const STAGING = "pat_stag_theTokenOfStaging";
const input = { title: "smoke test", type: "bug" };

const answering = (): Promise<HttpServer> =>
  serve((response, { method, target }) => {
    if (method === "POST") return send(response, 201, { number: 1, title: "smoke test", status: "open" });
    if (target.includes("/sessions/")) return send(response, 200, { id: "s", state: "on" });
    send(response, 200, { data: [{ id: "p", name: "web" }], next_cursor: null });
  });

let production: HttpServer;
let staging: HttpServer;
beforeEach(async () => {
  [production, staging] = await Promise.all([answering(), answering()]);
  vi.stubEnv("PROJECT_AUTOMATION_BASE_URL", `${production.origin}/api/v1`);
  vi.stubEnv("PROJECT_AUTOMATION_TOKEN", PRODUCTION);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

/** Every way in which a program could come to a client, and write with it. */
async function write(make: () => Client): Promise<void> {
  const client = make();
  const { create } = client.issues;
  await create("web", input);
  await client.projects.list().toArray();
  await client.sessions.waitFor("s", { until: () => true });
}

test.each<[string, (origin: string) => Client]>([
  ["an address that is not set", () => new Client({ baseUrl: process.env["STAGING_URL"], token: STAGING } as never)],
  ["neither is set", () => new Client({ baseUrl: process.env["STAGING_URL"], token: undefined } as never)],
  ["a token that is not set", (origin) => new Client({ baseUrl: origin, token: process.env["STAGING"] } as never)],
  ["an address alone", (origin) => new Client({ baseUrl: origin })],
  ["the neighbour behind one gateway", () => new Client({ baseUrl: `${production.origin}/other/api/v1` })],
  ["options of another program", (origin) => new Client({ ...{ url: origin }, baseUrl: undefined } as never)],
  ["a visitor without a token", () => new Client().withOptions({ token: ({} as { token?: string }).token } as never)],
  ["a derived client", (origin) => new Client().withOptions({ baseUrl: origin })],
  ["one derived from that", (origin) => new Client().withOptions({ retry: false }).withOptions({ baseUrl: origin })],
  [
    "a detached method",
    (origin) => {
      const { withOptions } = new Client();
      return withOptions({ baseUrl: origin, timeoutMs: 5_000 });
    },
  ],
])("%s: nothing is sent, to either", async (_, make) => {
  await expect(write(() => make(`${staging.origin}/api/v1`))).rejects.toThrow(/baseUrl|token/);
  expect([...production.seen, ...staging.seen]).toEqual([]);
});

test.each<[string, () => ClientOptions["token"]]>([
  ["a string", () => STAGING],
  ["a provider", () => async () => STAGING],
  [
    "a rotating token",
    () =>
      rotatingToken({
        token: { id: "tok_1", plaintext: STAGING, expires_at: "2099-01-01T00:00:00Z" },
        onRotated: () => {},
      }),
  ],
])("with a token of its own, %s, and nothing else of the first client's", async (_, token) => {
  const first = new Client({ headers: { "x-secret": "of production" }, fetchOptions: { referrer: "about:client" } });
  const own = token() ?? expect.fail("there is a token");
  const second = first.withOptions({ baseUrl: `${staging.origin}/api/v1`, token: own, headers: {}, fetchOptions: {} });
  await write(() => second.withOptions({ retry: false }));
  await write(() => first);
  const told = JSON.stringify(staging.seen);
  expect(staging.seen).toHaveLength(3);
  expect(told).not.toContain("of production");
  expect(told).not.toContain(PRODUCTION);
  expect(production.seen).toHaveLength(3);
  expect(JSON.stringify(production.seen)).not.toContain(STAGING);
});
