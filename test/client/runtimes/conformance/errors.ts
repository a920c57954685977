import type { Bench, Case, ErrorClass, Refusal, Service } from "./bench.ts";
import { equal, holds } from "./check.ts";

interface Status {
  readonly status: number;
  readonly className: ErrorClass;
  readonly kind: string;
}

const STATUSES: readonly Status[] = [
  { status: 400, className: "BadRequestError", kind: "bad_request" },
  { status: 401, className: "AuthenticationError", kind: "auth" },
  { status: 404, className: "NotFoundError", kind: "not_found" },
  { status: 409, className: "ConflictError", kind: "conflict" },
  { status: 418, className: "ApiError", kind: "api" },
  { status: 422, className: "BadRequestError", kind: "bad_request" },
];

async function refused(bench: Bench, service: Service, status: Status): Promise<Refusal> {
  const headers = { "x-request-id": "req_7" };
  await service.fault({ operation: "issues.create", status: status.status, headers, body: { error: "because" } });
  const call = bench.client(service).issues.create("project-1", { title: "It broke", type: "bug" });
  return await bench.refusal(call, status.className);
}

const byStatus = STATUSES.map(
  (given): Case => ({
    name: `${given.status} is a ${given.className}`,
    run: async (bench) => {
      const error = await refused(bench, await bench.service(), given);
      const { kind, status, code, outcome, requestId, method, path, attempts } = error;
      equal(
        { kind, status, code, outcome, requestId, method, path, attempts },
        {
          kind: given.kind,
          status: given.status,
          code: "because",
          outcome: "rejected",
          requestId: "req_7",
          method: "POST",
          path: "/projects/{project}/issues",
          attempts: 1,
        },
      );
      holds(error instanceof bench.suite.pkg.ApiError, "an ApiError");
      holds(!(error instanceof bench.suite.pkg.ServerError), "no ServerError");
    },
  }),
);

async function survives(error: Error): Promise<void> {
  for (const copy of [structuredClone(error), await posted(error)]) equal((copy as Error).message, error.message);
}

/** The same error, where a message takes it: structuredClone and ports copy what an Error is by itself. */
async function posted(error: unknown): Promise<unknown> {
  const { port1, port2 } = new MessageChannel();
  try {
    return await new Promise((resolve, reject) => {
      port2.onmessage = ({ data }) => resolve(data);
      port2.onmessageerror = () => reject(new Error("it could not be read"));
      port1.postMessage(error);
    });
  } finally {
    port1.close();
    port2.close();
  }
}

export const errors: readonly Case[] = [
  ...byStatus,
  {
    name: "the service's own 404 is a NotFoundError",
    run: async (bench) => {
      const client = bench.client(await bench.service());
      equal((await bench.refusal(client.sessions.get("ses_none"), "NotFoundError")).code, "not_found");
    },
  },
  {
    name: "a 403 names the scope that the API documentation requires",
    run: async (bench) => {
      const service = await bench.service();
      const client = bench.client(service, { token: await service.createToken(["projects:read"]) });
      const call = client.issues.create("project-1", { title: "No", type: "bug" });
      const { message, outcome } = await bench.refusal(call, "PermissionDeniedError");
      holds(message.includes("issues:write"), `the scope in "${message}"`);
      equal(outcome, "rejected");
    },
  },
  {
    name: "500 to a write leaves its outcome unknown",
    run: async (bench) => {
      const service = await bench.service();
      await service.fault({ status: 500, apply: true });
      const call = bench.client(service).issues.create("project-1", { title: "Lost", type: "bug" });
      equal((await bench.refusal(call, "ServerError")).outcome, "unknown");
      equal((await service.requests()).length, 1, "requests");
    },
  },
  {
    name: "an error can be cloned and posted, with its message",
    run: async (bench) => {
      const service = await bench.service();
      await survives(await bench.refusal(bench.client(service).sessions.get("none"), "NotFoundError"));
    },
  },
  {
    name: "an error whose cause cannot be cloned can be cloned and posted without it",
    where: ({ clonesErrorsAsSpecified }) => clonesErrorsAsSpecified,
    run: async (bench) => {
      const reason = (): void => undefined; // a function
      const call = bench.client(await bench.service()).sessions.get("any", { signal: AbortSignal.abort(reason) });
      const error = await bench.refusal(call, "AbortError");
      equal(error.cause === reason, true, "the cause is the reason");
      await survives(error);
    },
  },
  {
    name: "no print of an error, and no field, shows the token",
    run: async (bench) => {
      const service = await bench.service();
      await service.fault({ status: 400, body: { error: "odd", echo: service.token } });
      const error = await bench.refusal(bench.client(service).sessions.get("none"), "BadRequestError");
      for (const text of [String(error), error.stack ?? "", JSON.stringify(error)]) {
        holds(!text.includes(service.token), `no token in ${text}`);
      }
    },
  },
  {
    name: "an error of any copy, and of any realm, is one of ours",
    run: async ({ suite: { pkg, copies } }) => {
      const all = [{ name: "the one under test", pkg }, ...copies];
      for (const from of all) {
        const error = thrownBy(() => new from.pkg.Client({ baseUrl: "nowhere", token: "t" }));
        for (const { name, pkg: by } of all) {
          const results = [
            by.isAutomationError(error),
            error instanceof by.ConfigError,
            error instanceof by.AutomationError,
            error instanceof by.ArgumentError,
          ];
          equal(results, [true, true, true, false], `of ${from.name}, by ${name}`);
        }
        structuredClone(error);
      }
    },
  },
];

function thrownBy(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return error;
  }
}
