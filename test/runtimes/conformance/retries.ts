import type { Bench, Case, Service } from "./bench.ts";
import { equal, holds } from "./check.ts";

const create = (bench: Bench, service: Service): Promise<unknown> =>
  bench.client(service, bench.quick).issues.create("project-1", { title: "It broke", type: "bug" });

const count = async (service: Service): Promise<number> => (await service.requests()).length;

/** Assigned to nothing, and out of the range that is handed out. */
const CLOSED = "http://127.0.0.1:4/api/v1";

/** What becomes of a write that never left, by what the platform says of it. */
const NEVER_LEFT = {
  not_sent: { outcome: "not_sent", attempts: 3 },
  lost: { outcome: "unknown", attempts: 1 },
  failed: { outcome: "unknown", attempts: 1 },
} as const;

export const retries: readonly Case[] = [
  {
    name: "a read is sent again after a 503's Retry-After",
    run: async (bench) => {
      const service = await bench.service();
      await service.fault({ status: 503, headers: { "retry-after": "1" } });
      await bench.client(service).projects.list().toArray();
      const [failed, sent] = await service.requests();
      const waited = (sent?.at ?? 0) - (failed?.at ?? 0);
      // Both are stamped in whole milliseconds.
      holds(waited >= 999, `a wait of 1 s, not ${waited} ms`);
    },
  },
  {
    name: "a write is not sent again after a 503",
    run: async (bench) => {
      const service = await bench.service();
      await service.fault({ status: 503, headers: { "retry-after": "1" } });
      const { retryAfterMs, outcome } = await bench.refusal(create(bench, service), "ServerError");
      equal([retryAfterMs, outcome, await count(service)], [1_000, "unknown", 1]);
    },
  },
  {
    name: "a read is sent again after a 500, a limited number of times",
    run: async (bench) => {
      const service = await bench.service();
      await service.fault({ status: 500, times: 9 });
      const read = bench.client(service, bench.quick).projects.list().toArray();
      equal((await bench.refusal(read, "ServerError")).attempts, 3);
      equal(await count(service), 3, "requests");
    },
  },
  {
    name: "a read whose connection breaks is sent again",
    run: async (bench) => {
      const service = await bench.service();
      await service.fault({ operation: "sessions.list", drop: "before" });
      const sessions = await bench.client(service, bench.quick).sessions.list("project-1").toArray();
      equal([sessions.length, await count(service)], [3, 2]);
    },
  },
  {
    name: "a write whose connection breaks is not: its outcome is unknown",
    run: async (bench) => {
      const service = await bench.service();
      await service.fault({ operation: "issues.create", drop: "after", times: 9 });
      const { outcome, attempts, message } = await bench.refusal(create(bench, service), "ConnectionError");
      equal([outcome, attempts], ["unknown", 1]);
      if (!bench.suite.traits.resends) equal(await count(service), 1, "requests");
      holds(message.includes("check before sending it again"), `a warning in "${message}"`);
    },
  },
  {
    name: "a write on a connection that was used before and breaks is sent by the client once",
    run: async (bench) => {
      const service = await bench.service();
      const client = bench.client(service, bench.quick);
      await client.projects.list().toArray();
      await service.fault({ operation: "issues.create", drop: "after", times: 9 });
      const call = client.issues.create("project-1", { title: "Lost", type: "bug" });
      equal((await bench.refusal(call, "ConnectionError")).attempts, 1);
      if (!bench.suite.traits.resends) equal(await count(service), 2, "requests");
    },
  },
  {
    name: "an answer to a read that is cut off is asked for again",
    run: async (bench) => {
      const service = await bench.service();
      await service.fault({ operation: "projects.list", cutAfterBytes: 20 });
      const projects = await bench.client(service, bench.quick).projects.list().toArray();
      equal([projects.length, await count(service)], [3, 2]);
    },
  },
  {
    name: "an answer to a write that is cut off is not: it was accepted, and what came of it is kept",
    run: async (bench) => {
      const service = await bench.service();
      await service.fault({ operation: "tokens.create", cutAfterBytes: 40 });
      const call = bench.client(service, bench.quick).tokens.create({ name: "job", scopes: ["projects:read"] });
      const { outcome, rawBody } = await bench.refusal(call, "ConnectionError");
      equal([outcome, await count(service)], ["accepted", 1]);
      // A stream that breaks may forget what was not read yet.
      holds(rawBody !== undefined && '{"id":"'.startsWith(rawBody.slice(0, 7)), `the beginning, not ${rawBody}`);
    },
  },
  {
    name: "a connection that is refused is told",
    run: async (bench) => {
      const { pkg, traits } = bench.suite;
      const client = new pkg.Client({ baseUrl: CLOSED, token: "emu_K1_secret", ...bench.quick });
      const read = await bench.refusal(client.projects.list().toArray(), "ConnectionError");
      equal(read.attempts, 3, "attempts to read");
      const write = client.issues.create("web", { title: "It broke", type: "bug" });
      const { outcome, attempts } = await bench.refusal(write, "ConnectionError");
      equal({ outcome, attempts }, NEVER_LEFT[traits.refused]);
    },
  },
  {
    name: "a host that is unknown is told",
    run: async (bench) => {
      const { pkg, traits } = bench.suite;
      const baseUrl = "http://service.invalid/api/v1";
      const client = new pkg.Client({ baseUrl, token: "emu_K1_secret", allowInsecureHttp: true, ...bench.quick });
      const write = client.issues.create("web", { title: "It broke", type: "bug" });
      const { outcome, attempts } = await bench.refusal(write, "ConnectionError");
      equal({ outcome, attempts }, NEVER_LEFT[traits.unknownHost]);
    },
  },
];
