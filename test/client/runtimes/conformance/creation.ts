import type { Case } from "./bench.ts";
import { equal, holds } from "./check.ts";

const AWKWARD = ["a/b", "%2F", "ü ☂", "a?b#c", "a+b&c=d", " x ", "..."];

export const creation: readonly Case[] = [
  {
    name: "a call resolves its response with its result, and is sent once",
    run: async (bench) => {
      const service = await bench.service({ projects: [{ name: "web" }] });
      const call = bench.client(service).issues.create("web", { title: "One", type: "bug" });
      const { data, response } = await call.withResponse();
      equal([await call, (await service.requests()).length], [data, 1]);
      const url = `${service.baseUrl}/projects/web/issues`;
      equal([response.status, response.attempts, response.url], [201, 1, url]);
      holds(response.headers.get("content-type")?.includes("json") ?? false, "the media type among the headers");
      const isPlain = call instanceof Promise && Promise.resolve(call) === call && !("withResponse" in call.then());
      holds(isPlain, "a promise of the platform");
    },
  },
  {
    name: "a path value is one segment, encoded once, whatever is in it",
    run: async (bench) => {
      const service = await bench.service({ projects: AWKWARD.map((name) => ({ name })) });
      const client = bench.client(service);
      for (const name of AWKWARD) await client.issues.create(name, { title: name, type: "bug" });
      equal(
        (await service.requests()).map(({ path }) => path),
        AWKWARD.map((name) => `/projects/${encodeURIComponent(name)}/issues`),
      );
    },
  },
  {
    name: "a request carries the token, what it accepts, and nothing of its own making",
    run: async (bench) => {
      const service = await bench.service();
      const client = bench.client(service);
      await client.projects.list().toArray();
      await client.issues.create("project-1", { title: "It broke", type: "bug" });
      const [read, write] = await service.requests();
      for (const one of [read, write]) {
        holds(/^Bearer /.test(one?.headers["authorization"] ?? ""), "a bearer token");
        equal([one?.headers["accept"], one?.headers["cookie"]], ["application/json", undefined]);
      }
      equal([read?.headers["content-type"], write?.headers["content-type"]], [undefined, "application/json"]);
    },
  },
  {
    name: "the emulator in memory serves the client without a network",
    run: async (bench) => {
      const { baseUrl, token, fetch } = bench.suite.testing.createEmulator({ projects: 120 });
      const client = new bench.suite.pkg.Client({ baseUrl, token, fetch });
      equal((await client.projects.list().toArray()).length, 120);
      equal((await client.issues.create("project-1", { title: "It broke", type: "bug" })).number, 1);
    },
  },
];
