/**
 * Proxies that answer in the place of the service. An import through them does no item and refuses none. With the proxy
 * corrected, the same import on the same journal does what is left: what was applied is what was told.
 */
import { join } from "node:path";
import { Agent, fetch as undiciFetch } from "undici";
import { describe, expect, test } from "vitest";
import { type BulkCounts, bulkWrite } from "../../../src/bulk/index.ts";
import { fileJournal } from "../../../src/bulk/node.ts";
import { type AutomationError, Client, type ClientOptions } from "../../../src/client/index.ts";
import { type RunningEmulator, type StartOptions, startEmulator } from "../../../src/testing/node.ts";
import { countsOf, issueCounts, key, rowsOf, send } from "../../bulk/rows.ts";
import { CA } from "../../client/networks/certificates.ts";
import { examine } from "../../doctor/examine.ts";
import { rejection } from "../../support/promises.ts";
import { CADDY, caddy, HAPROXY, haproxy, NGINX, nginx, passes, TLS } from "./configurations.ts";
import { type Configuration, isHere, type ProxyName, ProxyServer } from "./proxy.ts";

const COUNT = 40;
const CONCURRENCY = 4;
const STOP_AFTER = 3;
/** At most so many items are begun before a run of nothing but failures stops. */
const BEGUN = CONCURRENCY + STOP_AFTER - 1;

interface Case {
  readonly proxy: ProxyName;
  readonly name: string;
  readonly wrong: Configuration;
  readonly corrected: Configuration;
  readonly options?: ClientOptions;
  readonly isSecure?: true;
}

const PAGE = "<html><title>Down for maintenance</title></html>";

const DOWN = nginx({
  server: `
    error_page 502 =200 @page;
    location / { proxy_pass http://127.0.0.1:4; }
    location @page { default_type text/html; return 200 "${PAGE}"; }`,
});

/** Each answers every request with a 2xx of its own. */
const SUCCESSES: readonly (Case & { readonly kind: string; readonly revokes: boolean })[] = [
  {
    proxy: "caddy",
    name: "a host that it does not know: 200, empty",
    wrong: caddy(
      ({ port, service }) => `http://automation.example.test:${port} {\n  reverse_proxy 127.0.0.1:${service}\n}`,
    ),
    corrected: CADDY,
    kind: "parse",
    revokes: true,
  },
  {
    proxy: "caddy",
    name: "a route that it does not know: 200, empty",
    wrong: caddy(
      ({ port, service }) =>
        `http://127.0.0.1:${port} {\n  handle /other/* {\n    reverse_proxy 127.0.0.1:${service}\n  }\n}`,
    ),
    corrected: CADDY,
    kind: "parse",
    revokes: true,
  },
  {
    proxy: "nginx",
    name: "its page while the service is down: 200",
    wrong: DOWN,
    corrected: NGINX,
    kind: "parse",
    revokes: false,
  },
  {
    proxy: "nginx",
    name: "JSON of something else: 200",
    wrong: nginx({ server: `default_type application/json; return 200 '{"status":"ok"}';` }),
    corrected: NGINX,
    kind: "validation",
    revokes: true,
  },
  {
    proxy: "nginx",
    name: "204",
    wrong: nginx({ server: "return 204;" }),
    corrected: NGINX,
    kind: "parse",
    revokes: true,
  },
  {
    proxy: "haproxy",
    name: "its page: 200",
    wrong: haproxy(`http-request return status 200 content-type text/html string "${PAGE}"`),
    corrected: HAPROXY,
    kind: "parse",
    revokes: false,
  },
  {
    proxy: "haproxy",
    name: "an empty 201",
    wrong: haproxy("http-request return status 201"),
    corrected: HAPROXY,
    kind: "parse",
    revokes: true,
  },
];

const returning = (status: number): Configuration => nginx({ server: `return ${status};` });

/** Each refuses every request about the connection, the header or the host. */
const REFUSALS: readonly (Case & { readonly status: number; readonly isOfService?: true })[] = [
  {
    proxy: "nginx",
    name: "no client certificate",
    wrong: nginx({ listen: " ssl", server: (place) => `${TLS} ssl_verify_client on; ${passes(place)}` }),
    corrected: nginx({ listen: " ssl", server: (place) => `${TLS} ${passes(place)}` }),
    isSecure: true,
    status: 400,
  },
  {
    proxy: "nginx",
    name: "http: at a port for TLS",
    wrong: nginx({ listen: " ssl", server: (place) => `${TLS} ${passes(place)}` }),
    corrected: NGINX,
    status: 400,
  },
  {
    proxy: "nginx",
    name: "a header of 9 kB",
    wrong: NGINX,
    corrected: nginx({ http: "large_client_header_buffers 4 32k;", server: passes }),
    options: { headers: { "x-large": "a".repeat(9_000) } },
    status: 400,
  },
  {
    proxy: "nginx",
    name: "a body above client_max_body_size",
    wrong: nginx({ server: (place) => `client_max_body_size 10; ${passes(place)}` }),
    corrected: NGINX,
    status: 413,
  },
  {
    proxy: "nginx",
    name: "the Host of a named upstream, which the service refuses",
    wrong: nginx({
      http: ({ service }) => `upstream automation { server 127.0.0.1:${service}; }`,
      server: "location / { proxy_pass http://automation; }",
    }),
    corrected: NGINX,
    status: 421,
    isOfService: true,
  },
  ...[400, 404, 409, 411, 422, 426, 451].map((status) => ({
    proxy: "nginx" as const,
    name: `return ${status}`,
    wrong: returning(status),
    corrected: NGINX,
    status,
  })),
  {
    proxy: "haproxy",
    name: "http-request deny: 403",
    wrong: haproxy("http-request deny"),
    corrected: HAPROXY,
    status: 403,
  },
  {
    proxy: "caddy",
    name: "respond 404",
    wrong: caddy(({ port }) => `http://127.0.0.1:${port} {\n  respond 404\n}`),
    corrected: CADDY,
    status: 404,
  },
];

/** An emulator, a proxy in front of it that is configured wrongly, a client, and an import. */
async function setUp({ proxy: name, wrong, options = {}, isSecure }: Case, service: StartOptions = {}) {
  const emulator = await startEmulator({ projects: [{ name: "web" }], rateLimit: false, ...service });
  const proxy = await ProxyServer.start(name, wrong, emulator);
  const dispatcher = isSecure && new Agent({ connect: { ca: CA } });
  const client = new Client({
    baseUrl: isSecure ? proxy.baseUrl.replace("http:", "https:") : proxy.baseUrl,
    token: emulator.token,
    retry: { minDelayMs: 1, maxDelayMs: 1 },
    ...(dispatcher && { fetch: undiciFetch as unknown as typeof fetch, fetchOptions: { dispatcher } }),
    ...options,
  });
  const run = () =>
    bulkWrite({
      client,
      items: rowsOf(COUNT),
      key,
      send,
      journal: fileJournal(join(proxy.place.folder, "import.journal")),
      concurrency: CONCURRENCY,
      stopAfter: STOP_AFTER,
    });
  return {
    emulator,
    proxy,
    client,
    run,
    [Symbol.asyncDispose]: async () => {
      await dispatcher?.destroy();
      await proxy[Symbol.asyncDispose]();
      await emulator.close();
    },
  };
}

const create = (client: Client): Promise<AutomationError> =>
  rejection(client.issues.create("web", { title: "One", type: "bug" })) as Promise<AutomationError>; // of ours

const writes = ({ emulator }: RunningEmulator): number =>
  emulator.requests.filter(({ method, status }) => method === "POST" && status === 201).length;

/** None was done or refused; those that were begun are unknown. Returns how many. */
function expectStopped({ done, refused, unknown, not_sent }: BulkCounts): number {
  expect([done, refused, unknown + not_sent]).toEqual([0, 0, COUNT]);
  expect(unknown).toBeGreaterThanOrEqual(STOP_AFTER);
  expect(unknown).toBeLessThanOrEqual(BEGUN);
  return unknown;
}

describe("a 2xx of a proxy", () => {
  test.concurrent.each(SUCCESSES.filter(({ proxy }) => isHere(proxy)))(
    "$proxy, $name",
    async ({ kind, revokes, ...one }) => {
      await using setup = await setUp(one);
      const { emulator, client, proxy } = setup;
      const error = await create(client);
      expect(error).toMatchObject({ kind, outcome: kind === "parse" ? "unknown" : "accepted", attempts: 1 });
      if (kind === "parse") expect(error.message).toContain("so it may not be from the service");

      const first = setup.run();
      expect(await rejection(first)).toMatchObject({ stoppedBy: { kind } });
      const begun = expectStopped(first.summary);

      expect((await examine({ baseUrl: proxy.baseUrl, token: emulator.token })).report).toMatchObject({
        result: "not_asked",
        verdict: expect.stringMatching(/^this is not the service: GET \/projects answered 20[0-4]/) as string,
      });

      // An empty 2xx cannot be told from a success by itself: the doctor asks.
      const { id } = emulator.emulator.createToken({ scopes: ["projects:read"] });
      const revoked = await client.tokens.revoke(id).then(
        () => true,
        (refused: AutomationError) => refused.outcome,
      );
      expect(revoked).toBe(revokes ? true : "unknown");
      expect(emulator.emulator.requests).toEqual([]);

      await proxy.correct(one.corrected);
      expect(await rejection(setup.run())).toMatchObject({
        summary: { done: COUNT - begun, unknown: begun, skipped: 0 },
      });
      expect(Object.values(issueCounts(emulator.emulator))).toEqual(Array(COUNT - begun).fill(1));
    },
  );
});

describe.runIf(isHere("nginx"))("a proxy that answers DELETE itself, with 204", () => {
  test("makes a revocation resolve while the token lives, and the doctor says so", async () => {
    const wrong = nginx({ server: (place) => `if ($request_method = DELETE) { return 204; } ${passes(place)}` });
    await using setup = await setUp({ proxy: "nginx", name: "DELETE", wrong, corrected: NGINX });
    const { emulator } = setup.emulator;
    const { id } = emulator.createToken({ scopes: ["projects:read"] });
    expect(await setup.client.tokens.revoke(id)).toBeUndefined();
    expect(emulator.tokens.get(id)?.state).toBe("active");

    const place = { baseUrl: setup.proxy.baseUrl, token: setup.emulator.token };
    const { question } = await examine(place, { write: true });
    expect(question("page-for-service")).toMatchObject({
      verdict: "contradicts",
      seen: expect.stringContaining("DELETE /me/tokens/{id} answered 204") as string,
    });
    await setup.proxy.correct(NGINX);
    expect((await examine(place, { write: true })).question("page-for-service").verdict).toBe("agrees");
  });
});

describe("a 4xx of a proxy", () => {
  test.concurrent.each(REFUSALS.filter(({ proxy }) => isHere(proxy)))(
    "$proxy, $name",
    async ({ status, isOfService, ...one }) => {
      await using setup = await setUp(one);
      const { emulator, client, proxy } = setup;
      const outcome = isOfService ? "rejected" : "unknown";
      expect(await create(client)).toMatchObject({ status, outcome, attempts: 1 });

      const first = setup.run();
      expect(await rejection(first)).toMatchObject({ stoppedBy: { status } });
      const unknown = isOfService ? 0 : expectStopped(first.summary);
      expect(first.summary).toMatchObject({ done: 0, refused: 0, unknown, not_sent: COUNT - unknown });
      expect(writes(emulator)).toBe(0);

      await proxy.correct(one.corrected);
      expect(await countsOf(setup.run())).toMatchObject({ done: COUNT - unknown, unknown, skipped: 0 });
      expect(Object.values(issueCounts(emulator.emulator))).toEqual(Array(COUNT - unknown).fill(1));
    },
  );

  test.runIf(isHere("nginx"))(
    "407, which the platform's fetch takes for a failed connection, begins nothing",
    async () => {
      await using setup = await setUp({ proxy: "nginx", name: "407", wrong: returning(407), corrected: NGINX });
      const first = setup.run();
      expect(await rejection(first)).toMatchObject({ stoppedBy: { kind: "connection" } });
      expect(first.summary).toMatchObject({ not_sent: COUNT, unknown: 0 });
      expect(setup.emulator.emulator.requests).toEqual([]);
    },
  );
});
