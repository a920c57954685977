/** Each case of the suite as a test of Deno, whose sanitizers see what a call leaves open. */
import * as pkg from "project-automation";
import { bulkWrite, memoryJournal } from "project-automation/bulk";
import * as testing from "project-automation/testing";
import { Bench, type Case } from "../conformance/bench.ts";
import { casesFor } from "../conformance/index.ts";
import { asking, type Settings } from "./run.ts";

interface DenoTest extends Pick<Case, "name"> {
  readonly sanitizeOps: true;
  readonly sanitizeResources: true;
  readonly fn: () => Promise<void>;
}

declare const Deno: { readonly args: readonly string[]; readonly test: (test: DenoTest) => void };

/** It comes first: once a program has loaded a module of Node, as a write does, Deno closes both ends of a port together. */
const PREFETCH: Case = {
  name: "a walk with prefetch, to its end",
  run: async (bench) => {
    const service = await bench.service({ projects: 9 });
    await bench.client(service).projects.list({ limit: 2 }, { prefetch: true }).toArray();
  },
};

const BULK: Case = {
  name: "a bulk write",
  run: async (bench) => {
    const client = bench.client(await bench.service());
    const send = (bound: typeof client, title: string) => bound.issues.create("project-1", { title, type: "bug" });
    await bulkWrite({ client, items: ["one", "two"], key: (title) => title, send, journal: memoryJournal() });
  },
};

const { origin, traits } = JSON.parse(Deno.args[0] ?? "") as Settings; // the harness wrote it
const suite = { pkg, testing, copies: [], traits, touched: [], ask: asking(origin) };
for (const { name, run } of [PREFETCH, ...casesFor(traits), BULK]) {
  Deno.test({ name, sanitizeOps: true, sanitizeResources: true, fn: () => run(new Bench(suite)) });
}
