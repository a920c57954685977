import { type Family, outcomeFor, RULES, type Rule } from "../../../support/retry-table.ts";
import type { Case, Service } from "./bench.ts";
import { equal, holds } from "./check.ts";

const count = async (service: Service): Promise<number> => (await service.requests()).length;

/** No server listens here, and the system assigns no port of this range. */
const CLOSED = "http://127.0.0.1:4/api/v1";

const ATTEMPTS = 3;

/** The requests of a call whose first attempt fails under a rule, and whose second one succeeds. */
const requestsAfter = (rule: Rule, family: Family): number => (rule.reaction[family] === "retry" ? 2 : 1);
/** The error of a call whose every attempt fails under a rule. */
const failureUnder = (rule: Rule, family: Family): { outcome: string | undefined; attempts: number } => ({
  outcome: outcomeFor(family, rule.outcome),
  attempts: rule.reaction[family] === "retry" ? ATTEMPTS : 1,
});

export const retries: readonly Case[] = [
  {
    name: "a read whose connection breaks is sent again",
    run: async (bench) => {
      const service = await bench.service();
      await service.fault({ operation: "sessions.list", drop: "before" });
      const sessions = await bench.client(service, bench.quick).sessions.list("project-1").toArray();
      equal([sessions.length, await count(service)], [3, requestsAfter(RULES.connectionLost, "safe")]);
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
      const { outcome, attempts } = await bench.refusal(call, "ConnectionError");
      equal({ outcome, attempts }, failureUnder(RULES.connectionLost, "write"));
      if (!bench.suite.traits.resends) equal(await count(service), 2, "requests");
    },
  },
  {
    name: "a deletion that was lost, and is sent again by the client or by the platform, is ambiguous where nothing is left to delete",
    run: async (bench) => {
      const service = await bench.service();
      const client = bench.client(service, bench.quick);
      const { id } = await client.tokens.create({ name: "job", scopes: ["projects:read"] });
      await service.fault({ operation: "tokens.revoke", drop: "after", times: 1 });
      const { status, priorAmbiguous } = await bench.refusal(client.tokens.revoke(id), "NotFoundError");
      equal({ status, priorAmbiguous }, { status: 404, priorAmbiguous: true });
    },
  },
  {
    name: "a read whose response is cut off is sent again",
    run: async (bench) => {
      const service = await bench.service();
      await service.fault({ operation: "projects.list", cutAfterBytes: 20 });
      const projects = await bench.client(service, bench.quick).projects.list().toArray();
      equal([projects.length, await count(service)], [3, requestsAfter(RULES.bodyLost, "safe")]);
    },
  },
  {
    name: "a write whose response is cut off is not sent again: it was accepted if any of it arrived, and the error keeps that",
    run: async (bench) => {
      const service = await bench.service();
      await service.fault({ operation: "tokens.create", cutAfterBytes: 40 });
      const call = bench.client(service, bench.quick).tokens.create({ name: "job", scopes: ["projects:read"] });
      const { outcome, attempts, rawBody } = await bench.refusal(call, "ConnectionError");
      // A stream that breaks may lose what was not read yet: the outcome is that of what was.
      const begun = rawBody ?? "";
      equal({ outcome, attempts }, failureUnder(begun === "" ? RULES.bodyLostEarly : RULES.bodyLost, "write"));
      equal(await count(service), attempts, "requests");
      holds('{"id":"'.startsWith(begun.slice(0, 7)), `the beginning, not ${rawBody}`);
    },
  },
  {
    name: "a refused connection rejects with ConnectionError",
    run: async (bench) => {
      const { pkg, traits } = bench.suite;
      const client = new pkg.Client({ baseUrl: CLOSED, token: "emu_K1_secret", ...bench.quick });
      const read = await bench.refusal(client.projects.list().toArray(), "ConnectionError");
      equal(read.attempts, ATTEMPTS, "attempts to read");
      const write = client.issues.create("web", { title: "It broke", type: "bug" });
      const { outcome, attempts } = await bench.refusal(write, "ConnectionError");
      equal(
        { outcome, attempts },
        failureUnder(traits.showsRefusals ? RULES.noConnection : RULES.connectionLost, "write"),
      );
    },
  },
];
