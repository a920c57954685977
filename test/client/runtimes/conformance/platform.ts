/** What the package leaves alone, and what only a browser does. */
import type { Case, Traits } from "./bench.ts";
import { equal } from "./check.ts";

const inBrowsers = ({ isBrowser }: Traits): boolean => isBrowser;

export const platform: readonly Case[] = [
  {
    name: "importing changes nothing: no global but zod's configuration, no listener, no timer",
    run: async ({ suite }) => {
      const isOfZod = (name: string): boolean => name.startsWith("globalThis.__zod_globalConfig, ");
      equal(
        suite.touched.filter((name) => !isOfZod(name)),
        [],
      );
    },
  },
  {
    name: "preflights ask for authorization, and content-type where there is a body",
    where: inBrowsers,
    run: async (bench) => {
      const service = await bench.service();
      const client = bench.client(service);
      await client.projects.list().toArray();
      await client.issues.create("project-1", { title: "It broke", type: "bug" });
      const { id } = await client.tokens.create({ name: "job", scopes: [] });
      await client.tokens.rotate(id);
      await client.tokens.revoke((await client.tokens.create({ name: "job", scopes: [] })).id);
      const asked = (await service.preflights()).map(({ method, headers }) => `${method} ${headers}`);
      equal([...new Set(asked)].sort(), [
        "DELETE authorization",
        "GET authorization",
        "POST authorization",
        "POST authorization,content-type",
      ]);
    },
  },
  {
    name: "a 429 across origins has its Retry-After if the service exposes it",
    where: inBrowsers,
    run: async (bench) => {
      const service = await bench.service();
      await service.fault({ status: 429, headers: { "retry-after": "7" } });
      const call = bench.client(service, { retry: false }).sessions.get("any");
      equal((await bench.refusal(call, "RateLimitError")).retryAfterMs, 7_000);
    },
  },
  {
    name: "without that the pause is the client's own, and the call is sent again",
    where: inBrowsers,
    run: async (bench) => {
      const service = await bench.service();
      const headers = { "retry-after": "7", "access-control-expose-headers": null };
      await service.fault({ status: 429, headers, times: 2 });
      const call = bench.client(service, { retry: false }).sessions.get("any");
      equal((await bench.refusal(call, "RateLimitError")).retryAfterMs, undefined);
      const delays: number[] = [];
      const client = bench.client(service, {
        onEvent: (event) => void (event.type === "rate_limit_pause" && delays.push(event.delayMs)),
      });
      await client.projects.list().toArray();
      equal([delays.length, (delays[0] ?? 0) > 0, delays[0] === 7_000], [1, true, false], String(delays));
    },
  },
  {
    name: "a response that a cache may keep is asked for again: it belongs to one token and one moment",
    run: async (bench) => {
      const service = await bench.service();
      const headers = { "cache-control": "private, max-age=60", "last-modified": "Tue, 01 Jan 2019 00:00:00 GMT" };
      await service.fault({ status: 200, body: { data: [], next_cursor: null }, headers, times: 2 });
      for (const client of [bench.client(service), bench.client(service)]) await client.projects.list().toArray();
      equal((await service.requests()).length, 2);
    },
  },
  {
    name: "a response that CORS hides is a lost connection",
    where: inBrowsers,
    run: async (bench) => {
      const service = await bench.service();
      await service.fault({ operation: "issues.create", headers: { "access-control-allow-origin": null } });
      const call = bench.client(service).issues.create("project-1", { title: "Hidden", type: "bug" });
      equal((await bench.refusal(call, "ConnectionError")).outcome, "unknown");
    },
  },
];
