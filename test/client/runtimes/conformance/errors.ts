import type { Case } from "./bench.ts";
import { equal } from "./check.ts";

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
  {
    name: "the service's own 404 is a NotFoundError",
    run: async (bench) => {
      const client = bench.client(await bench.service());
      equal((await bench.refusal(client.sessions.get("ses_none"), "NotFoundError")).code, "not_found");
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
