import { execFile, execFileSync } from "node:child_process";
import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BINS, ENTRY_POINTS, PEERS } from "../../../config/entry-points.ts";
import { VERSION } from "../../../src/client/version.ts";
import { startEmulatorCommand } from "../../support/emulator-command.ts";
import { installedNodes, link, type Packed, pack, runScript } from "../../support/packed.ts";

/** With the packages that some entry points need, and without any. */
let packed: Packed;
let alone: Packed;
beforeAll(() => {
  packed = pack();
  alone = pack();
  link(packed.folder, ...PEERS);
});
afterAll(() => {
  for (const { folder } of [packed, alone]) rmSync(folder, { recursive: true, force: true });
});

const specifiers = ENTRY_POINTS.map(({ name }) => `project-automation${name.slice(1)}`);

interface Entries {
  readonly names: readonly (readonly string[])[];
  readonly misnamed: readonly string[];
}

// Besides the Node of the development tools the one of the machine, which may be older than what is promised.
describe.each(installedNodes())("on Node $version", ({ path: node }) => {
  const run = (name: string, code: string): unknown =>
    JSON.parse(runScript({ folder: packed.folder, name, code, node }));

  /** Of every entry point what it exports, and of all of them the exports that have other names themselves. */
  let imported: Entries;
  let required: Entries;
  beforeAll(() => {
    const code = (load: string): string => `
      const all = [${specifiers.map((specifier) => `${load}("${specifier}")`).join()}];
      Promise.all(all).then((modules) => {
        const names = modules.map((one) => Object.keys(one).filter((name) => name !== "default").sort());
        const functions = modules.flatMap((one) => Object.entries(one)).filter(([, value]) => typeof value === "function");
        const misnamed = functions.filter(([name, value]) => value.name !== name).map(([name]) => name);
        console.log(JSON.stringify({ names, misnamed }));
      });`;
    imported = run("entries.mjs", code("import")) as Entries; // as it prints them
    required = run("entries.cjs", code("require")) as Entries;
  });

  test("every entry point is had by import and by require, with the same names", () => {
    expect(required.names).toEqual(imported.names);
    for (const names of imported.names) expect(names).not.toHaveLength(0);
  });

  test("an error of one copy is an instance of the class of every other", () => {
    const code = `
      import { createRequire } from "node:module";
      import * as esm from "project-automation";
      const cjs = createRequire(import.meta.url)("project-automation");
      const results = [];
      for (const made of [esm, cjs]) {
        let error;
        try { new made.Client({ baseUrl: "nowhere", token: "t" }); } catch (thrown) { error = thrown; }
        for (const copy of [esm, cjs]) {
          const yes = [copy.ConfigError, copy.AutomationError].map((type) => error instanceof type);
          results.push([...yes, copy.isAutomationError(error), error instanceof copy.ArgumentError].join());
        }
      }
      console.log(JSON.stringify(results));`;
    expect(run("identity.mjs", code)).toEqual(Array(4).fill("true,true,true,false"));
  });

  test("what is published has the names that it is exported by", () => {
    expect(imported.misnamed).toEqual([]);
    expect(required.misnamed).toEqual([]);
  });

  const withoutZod = `
    const { baseUrl, token, fetch } = createEmulator({ projects: 2 });
    const client = new Client({ baseUrl, token, fetch });
    client.projects.list().toArray().then((list) => console.log(JSON.stringify(list.map(({ name }) => name))));`;

  test("everything but the schemas works where zod is not installed", () => {
    const esm = `
      import { Client } from "project-automation";
      import { createEmulator } from "project-automation/testing"; ${withoutZod}`;
    const cjs = `
      const { Client } = require("project-automation");
      const { createEmulator } = require("project-automation/testing"); ${withoutZod}`;
    const runAlone = (name: string, code: string): unknown =>
      JSON.parse(runScript({ folder: alone.folder, name, code, node }));
    expect(runAlone("alone.mjs", esm)).toEqual(["project-1", "project-2"]);
    expect(runAlone("alone.cjs", cjs)).toEqual(["project-1", "project-2"]);
    const missing = 'import("project-automation/schemas").catch(({ code }) => console.log(JSON.stringify(code)));';
    expect(runAlone("missing.mjs", missing)).toBe("ERR_MODULE_NOT_FOUND");
  });

  test.each([
    { format: "ESM", name: "schemas.mjs", load: (from: string) => `(await import("${from}"))` },
    { format: "CommonJS", name: "schemas.cjs", load: (from: string) => `require("${from}")` },
  ])("the schemas are made with the application's own zod: $format", ({ name, load }) => {
    const code = `
      const z = ${load("zod/v4-mini")};
      const { ProjectSchema, pageOf } = ${load("project-automation/schemas")};
      const { Client, path } = ${load("project-automation")};
      const Team = z.extend(ProjectSchema, { team: z.string() });
      const page = { data: [{ id: "prj_1", name: "web", team: "a", more: 1 }], next_cursor: null };
      const fetch = async () => new Response(JSON.stringify(page));
      const client = new Client({ baseUrl: "https://automation.example.com/api/v1", token: "t", fetch });
      const request = { method: "GET", path: path\`/teams\` };
      Promise.all([
        client.request({ ...request, schema: pageOf(Team) }),
        client.paginate({ path: request.path, schema: Team }).toArray(),
        client.request({ ...request, schema: ProjectSchema }).catch(({ kind, issues }) => [kind, issues[0].path]),
      ]).then((results) => console.log(JSON.stringify([
        ProjectSchema instanceof z.ZodMiniObject,
        z.object({ project: ProjectSchema }).safeParse({ project: {} }).success,
        z.toJSONSchema(Team).required,
        ...results,
      ])));`;
    const page = { data: [{ id: "prj_1", name: "web", team: "a", more: 1 }], next_cursor: null };
    const required = ["id", "name", "team"];
    expect(run(name, code)).toEqual([true, false, required, page, page.data, ["validation", ["id"]]]);
  });

  test("importing leaves nothing running and nothing changed but zod's configuration object", () => {
    const code = `
      const settings = { jitless: true };
      globalThis.__zod_globalConfig = settings; // an application's own, which it may have set before
      const before = Object.getOwnPropertyNames(globalThis);
      const listeners = process.eventNames().length;
      await import("project-automation");
      await import("project-automation/testing");
      const added = Object.getOwnPropertyNames(globalThis).filter((name) => !before.includes(name));
      const running = process.getActiveResourcesInfo().filter((resource) => /Timeout|Immediate|TCP|Port/.test(resource));
      const kept = globalThis.__zod_globalConfig === settings && JSON.stringify(settings);
      console.log(JSON.stringify({ added, running, kept, listeners: process.eventNames().length - listeners }));`;
    expect(run("idle.mjs", code)).toEqual({ added: [], running: [], kept: '{"jitless":true}', listeners: 0 });
  });

  test("nothing is compiled from strings, not even as a try", () => {
    const code = `
      const probes = [];
      const probed = () => probes.push(new Error().stack);
      globalThis.Function = new Proxy(Function, { construct: probed, apply: probed });
      globalThis.eval = probed;
      await import("project-automation");
      const { ProjectSchema, pageOf } = await import("project-automation/schemas");
      pageOf(ProjectSchema).safeParse({ data: [{ id: "prj_1", name: "web" }], next_cursor: null });
      console.log(JSON.stringify(probes));`;
    expect(run("strings.mjs", code)).toEqual([]);
  });

  test.each(BINS)("$name says its version", ({ file }) => {
    const bin = join(packed.root, `dist/${file}.js`);
    expect(execFileSync(node, [bin, "--version"], { encoding: "utf8" }).trim()).toBe(VERSION);
  });
});

describe.each(BINS)("$name", ({ name, file }) => {
  const shell = process.platform === "win32";

  test("is linked under its name", () => {
    const bin = join(packed.folder, "node_modules/.bin", name);
    expect(execFileSync(bin, ["--version"], { encoding: "utf8", shell }).trim()).toBe(VERSION);
  });

  test("is run by npx", () => {
    const args = ["--no", "--offline", "--", name, "--help"];
    const output = execFileSync("npx", args, { cwd: packed.folder, encoding: "utf8", shell });
    expect(output).toMatch(new RegExp(`^Usage: ${name} `));
  });

  test("can be executed, by whichever node is there", () => {
    const bin = join(packed.root, `dist/${file}.js`);
    expect(readFileSync(bin, "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
    if (process.platform !== "win32") expect(statSync(bin).mode & 0o111).toBe(0o111);
  });
});

test("the program that is installed serves, and its doctor finds nothing that differs", async () => {
  const bin = join(alone.root, "dist/bin.js");
  const { printed, baseUrl, token, close } = await startEmulatorCommand(bin);
  expect(printed).toContain("projects: web, api, docs\nsession:  ses_1 of web, queued, then running, then done");
  const env = { ...process.env, PROJECT_AUTOMATION_BASE_URL: baseUrl, PROJECT_AUTOMATION_TOKEN: token };
  const doctor = await promisify(execFile)(process.execPath, [bin, "doctor", "--write"], { env });
  expect(doctor.stdout).toMatch(/^this is the service; nothing differs from what is assumed/);
  expect(await close()).toBe(0);
});

const forBrowsers = specifiers.filter((specifier) => !specifier.endsWith("/node"));

test.each(forBrowsers)("%s bundles for a browser", async (specifier) => {
  const { outputFiles } = await build({
    stdin: { contents: `export * from "${specifier}";`, resolveDir: packed.folder },
    bundle: true,
    format: "esm",
    platform: "browser",
    external: [...PEERS],
    write: false,
    logLevel: "silent",
  });
  expect(outputFiles[0]?.text).not.toMatch(/["']node:/);
  expect(outputFiles[0]?.text).not.toContain("undici:");
});
