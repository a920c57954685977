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
    name: "a redirect rejects, and is not followed",
    run: async (bench) => {
      const [service, elsewhere] = [await bench.service(), await bench.service()];
      for (const status of [302, 307, 308]) {
        await service.fault({ status, headers: { location: `${elsewhere.baseUrl}/projects` } });
        const error = await bench.refusal(bench.client(service).projects.list().toArray(), "RedirectError");
        // A page does not see the status.
        const visible = bench.suite.traits.isBrowser ? undefined : status;
        equal([error.status, error.outcome, error.attempts], [visible, undefined, 1]);
      }
      equal(await elsewhere.requests(), []);
    },
  },
];
