import type { StandardSchema } from "project-automation";
import type { Case } from "./bench.ts";
import { equal, holds } from "./check.ts";

const AWKWARD = ["a/b", "%2F", "ü ☂", "a?b#c", "a+b&c=d", " x ", "..."];

/** A Standard Schema without a library. */
const numbered: StandardSchema<{ number: number }> = {
  "~standard": {
    version: 1,
    vendor: "conformance",
    validate: (value) => {
      const { number } = value as { number?: unknown }; // the service sends objects
      return typeof number === "number" ? { value: { number } } : { issues: [{ message: "no number" }] };
    },
  },
};

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
    name: "an issue is created by the project's name, its id, and the project itself",
    run: async (bench) => {
      const service = await bench.service({ projects: [{ id: "prj_1", name: "web" }] });
      const client = bench.client(service);
      const [project] = await client.projects.list().toArray();
      const numbers: number[] = [];
      for (const one of ["web", "prj_1", project ?? ""]) {
        numbers.push((await client.issues.create(one, { title: "Blank ☂", type: "bug" })).number);
      }
      equal(numbers, [1, 2, 3]);
      const [, ...created] = await service.requests();
      equal(
        created.map(({ path }) => path),
        ["web", "prj_1", "prj_1"].map((segment) => `/projects/${segment}/issues`),
      );
      equal(
        created.map(({ text }) => text),
        Array(3).fill('{"title":"Blank ☂","type":"bug"}'),
        "bodies",
      );
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
    name: "a path value that would address another endpoint rejects, and nothing is sent",
    run: async (bench) => {
      const service = await bench.service();
      const client = bench.client(service);
      for (const project of ["", ".", "..", "a/../b", "a/", "\ud800"]) {
        const error = await bench.refusal(client.issues.create(project, { title: "No", type: "bug" }), "ArgumentError");
        equal(error.kind, "argument");
      }
      equal(await service.requests(), []);
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
    name: "a token is created, works, and is revoked",
    run: async (bench) => {
      const service = await bench.service();
      const client = bench.client(service);
      const { id, plaintext } = await client.tokens.create({ name: "job", scopes: ["projects:read"] });
      const job = client.withOptions({ token: plaintext });
      equal((await job.projects.list().toArray()).length, 3);
      equal(await client.tokens.revoke(id), undefined);
      equal((await bench.refusal(job.projects.list().toArray(), "AuthenticationError")).status, 401);
    },
  },
  {
    name: "another endpoint is reached with the same path rules and a schema",
    run: async (bench) => {
      const client = bench.client(await bench.service({ projects: [{ name: "a/b" }] }));
      const issue = await client.request({
        method: "POST",
        path: bench.suite.pkg.path`/projects/${"a/b"}/issues`,
        json: { title: "It broke", type: "bug" },
        schema: numbered,
      });
      equal(issue.number, 1);
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
