/** Answers that are not what they should be. */
import type { Case } from "./bench.ts";
import { equal, holds } from "./check.ts";

export const responses: readonly Case[] = [
  {
    name: "a response of another shape rejects, and the error keeps its text",
    run: async (bench) => {
      const service = await bench.service();
      await service.fault({ operation: "tokens.create", status: 201, body: { plaintext: "one-time" } });
      const call = bench.client(service).tokens.create({ name: "job", scopes: [] });
      const error = await bench.refusal(call, "ResponseValidationError");
      equal([error.rawBody, error.outcome], ['{"plaintext":"one-time"}', "accepted"]);
      holds(error.issues?.some(({ path }) => path.join() === "id") ?? false, "an issue with the id");
      holds(!JSON.stringify(error).includes("one-time"), "no value in print");
    },
  },
  {
    name: "with lenient validation it is returned, and reported as drift",
    run: async (bench) => {
      const service = await bench.service();
      await service.fault({ operation: "sessions.get", status: 200, body: { id: "ses_1", state: 7 } });
      const drift: string[] = [];
      const client = bench.client(service, {
        validation: "lenient",
        onEvent: (event) => {
          if (event.type === "drift") drift.push(...event.issues.map(({ path }) => path.join(".")));
        },
      });
      equal([await client.sessions.get("ses_1"), drift], [{ id: "ses_1", state: 7 }, ["state"]]);
    },
  },
  {
    name: "a response that is not JSON rejects",
    run: async (bench) => {
      const service = await bench.service();
      await service.fault({ status: 200, body: "<p>Hello</p>", headers: { "content-type": "text/html" } });
      const error = await bench.refusal(bench.client(service).sessions.get("any"), "ResponseParseError");
      equal([error.rawBody, error.kind], ["<p>Hello</p>", "parse"]);
    },
  },
  {
    name: "a repeated cursor ends the walk",
    run: async (bench) => {
      const service = await bench.service();
      await service.fault({ operation: "projects.list", page: "loop", times: 9 });
      await bench.refusal(bench.client(service).projects.list().toArray(), "PaginationError");
    },
  },
  {
    name: "a redirect rejects, and is not followed",
    run: async (bench) => {
      const [service, elsewhere] = [await bench.service(), await bench.service()];
      for (const status of [302, 307, 308]) {
        await service.fault({ status, headers: { location: `${elsewhere.baseUrl}/projects` } });
        const error = await bench.refusal(bench.client(service).projects.list().toArray(), "RedirectError");
        // A page does not see the status.
        const visible = bench.suite.traits.isBrowser ? undefined : status;
        const outcome = visible === 307 || visible === 308 ? "rejected" : undefined;
        equal([error.status, error.outcome, error.attempts], [visible, outcome, 1]);
      }
      equal(await elsewhere.requests(), []);
    },
  },
  {
    name: "a validation error has the path of each issue",
    run: async (bench) => {
      const service = await bench.service();
      await service.fault({ status: 200, body: { data: [{ id: "prj_1", name: 1 }], next_cursor: null } });
      const error = await bench.refusal(bench.client(service).projects.list().toArray(), "ResponseValidationError");
      equal(error.issues, [{ path: ["data", 0, "name"], message: "must be a string, got a number" }]);
    },
  },
];
