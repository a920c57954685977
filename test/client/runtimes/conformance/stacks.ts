import type { Case, Package } from "./bench.ts";
import { equal } from "./check.ts";

type Client = InstanceType<Package["Client"]>;
/** Calls one method with arguments that it refuses. No function is left by a tail call: each awaits, or ends otherwise. */
type Calls = Readonly<Record<string, (client: Client, pkg: Package) => Promise<unknown>>>;

const CALLS: Calls = {
  "tokens.create": async function theCaller(client) {
    await client.tokens.create({ name: 1, scopes: [] } as never);
  },
  "tokens.rotate": async function theCaller(client) {
    await client.tokens.rotate("");
  },
  "tokens.revoke": async function theCaller(client) {
    await client.tokens.revoke("");
  },
  "issues.create": async function theCaller(client) {
    await client.issues.create("", { title: "One", type: "bug" });
  },
  "sessions.get": async function theCaller(client) {
    await client.sessions.get("");
  },
  "sessions.waitFor": async function theCaller(client) {
    await client.sessions.waitFor("", { until: () => true });
  },
  "sessions.watch": async function theCaller(client) {
    for await (const _ of client.sessions.watch("")) break;
  },
  "for await": async function theCaller(client) {
    for await (const _ of client.projects.list({ limit: Number.NaN })) break;
  },
  pages: async function theCaller(client) {
    for await (const _ of client.sessions.list("").pages()) break;
  },
  page: async function theCaller(client) {
    await client.projects.list({ limit: Number.NaN }).page();
  },
  toArray: async function theCaller(client) {
    await client.projects.list({ limit: Number.NaN }).toArray();
  },
  request: async function theCaller(client) {
    await client.request({ method: "GET", path: "/x" as never });
  },
  paginate: async function theCaller(client) {
    await client.paginate({ path: "/x" as never }).page();
  },
  withOptions: async function theCaller(client) {
    const made: unknown = client.withOptions({ baseURL: "x" } as never);
    await made;
  },
  setToken: async function theCaller(client) {
    const nothing: unknown = client.setToken("");
    await nothing;
  },
  path: async function theCaller(_, { path }) {
    const made: unknown = path`/x/${""}`;
    await made;
  },
  "the constructor": async function theCaller(_, { Client }) {
    const made: unknown = new Client({ baseUrl: "nowhere", token: "t" });
    await made;
  },
};

/** They refuse options of a client. */
const OF_OPTIONS = new Set(["withOptions", "setToken", "the constructor"]);

export const stacks: readonly Case[] = Object.entries(CALLS).map(([name, call]) => ({
  name: `the stack of an error begins in the function that called: ${name}`,
  where: ({ hasFrames }) => hasFrames,
  run: async (bench) => {
    const client = new bench.suite.pkg.Client({ baseUrl: "https://automation.example.com/api/v1", token: "pat_a_b" });
    const error = await bench.refusal(
      call(client, bench.suite.pkg),
      OF_OPTIONS.has(name) ? "ConfigError" : "ArgumentError",
    );
    const [head = "", first = ""] = (error.stack ?? "").split(/\n {4}at /);
    equal([head, /theCaller/.test(first)], [String(error), true], error.stack);
  },
}));
