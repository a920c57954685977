import type { Case, Package } from "./bench.ts";
import { equal } from "./check.ts";

type Client = InstanceType<Package["Client"]>;
/** Calls one method with arguments that it refuses. No function is left by a tail call: each awaits, or ends otherwise. */
type Calls = Readonly<Record<string, (client: Client, pkg: Package) => Promise<unknown>>>;

const CALLS: Calls = {
  "issues.create": async function theCaller(client) {
    await client.issues.create("", { title: "One", type: "bug" });
  },
  "sessions.waitFor": async function theCaller(client) {
    await client.sessions.waitFor("", { until: () => true });
  },
  "for await": async function theCaller(client) {
    for await (const _ of client.projects.list({ limit: Number.NaN })) break;
  },
  request: async function theCaller(client) {
    await client.request({ method: "GET", path: "/x" as never });
  },
  "the constructor": async function theCaller(_, { Client }) {
    const made: unknown = new Client({ baseUrl: "nowhere", token: "t" });
    await made;
  },
};

export const stacks: readonly Case[] = Object.entries(CALLS).map(([name, call]) => ({
  name: `the stack of an error begins in the function that called: ${name}`,
  where: ({ hasFrames }) => hasFrames,
  run: async (bench) => {
    const client = new bench.suite.pkg.Client({ baseUrl: "https://automation.example.com/api/v1", token: "pat_a_b" });
    const error = await bench.refusal(
      call(client, bench.suite.pkg),
      name === "the constructor" ? "ConfigError" : "ArgumentError",
    );
    const [head = "", first = ""] = (error.stack ?? "").split(/\n {4}at /);
    equal([head, /theCaller/.test(first)], [String(error), true], error.stack);
  },
}));
