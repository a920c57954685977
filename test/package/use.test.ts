import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { VERSION } from "../../src/version.ts";
import { DOORS, installedNodes, link, type Packed, PEERS, pack, runScript } from "../support/packed.ts";

let packed: Packed;
beforeAll(() => {
  packed = pack();
  link(packed.folder, ...PEERS);
}, 60_000);
afterAll(() => rmSync(packed.folder, { recursive: true, force: true }));

const specifier = (door: string): string => `project-automation${door.slice(1)}`;
const doors = DOORS.map(specifier);

// Besides the Node of the development tools the one of the machine, which may be older than what is promised.
describe.each(installedNodes())("on Node $version", ({ path: node }) => {
  const run = (name: string, code: string): unknown =>
    JSON.parse(runScript({ folder: packed.folder, name, code, node }));

  test("every door opens by import and by require, with the same names", () => {
    const report =
      "console.log(JSON.stringify(doors.map((door) => Object.keys(door).filter((name) => name !== 'default').sort())));";
    const imported = run(
      "doors.mjs",
      `const doors = [${doors.map((door) => `await import("${door}")`).join()}]; ${report}`,
    );
    const required = run("doors.cjs", `const doors = [${doors.map((door) => `require("${door}")`).join()}]; ${report}`);
    expect(required).toEqual(imported);
    for (const names of imported as string[][]) expect(names).not.toHaveLength(0);
  });

  test("an error of one copy is an instance of the class of every other", () => {
    const code = `
      import { createRequire } from "node:module";
      import * as esm from "project-automation";
      import * as esmSchemas from "project-automation/schemas";
      const require = createRequire(import.meta.url);
      const cjs = require("project-automation");
      const cjsSchemas = require("project-automation/schemas");
      const told = [];
      for (const { ProjectSchema } of [esmSchemas, cjsSchemas]) {
        const { error } = ProjectSchema.safeParse({});
        for (const copy of [esm, cjs]) {
          const yes = [copy.ResponseValidationError, copy.AutomationError].map((type) => error instanceof type);
          told.push([...yes, copy.isAutomationError(error), error instanceof copy.ConfigError].join());
        }
      }
      console.log(JSON.stringify(told));`;
    expect(run("identity.mjs", code)).toEqual(Array(4).fill("true,true,true,false"));
  });

  test("in ESM the doors share their classes", () => {
    const code = `
      import { ResponseValidationError } from "project-automation";
      import { ProjectSchema } from "project-automation/schemas";
      const { error } = ProjectSchema.safeParse({});
      console.log(Object.getPrototypeOf(error) === ResponseValidationError.prototype);`;
    expect(run("shared.mjs", code)).toBe(true);
  });

  test("importing leaves nothing running and nothing changed", () => {
    const code = `
      const before = Object.getOwnPropertyNames(globalThis);
      const listeners = process.eventNames().length;
      await import("project-automation");
      await import("project-automation/schemas");
      await import("project-automation/testing");
      const added = Object.getOwnPropertyNames(globalThis).filter((name) => !before.includes(name));
      const running = process.getActiveResourcesInfo().filter((resource) => /Timeout|Immediate|TCP|Port/.test(resource));
      console.log(JSON.stringify({ added, running, listeners: process.eventNames().length - listeners }));`;
    expect(run("idle.mjs", code)).toEqual({ added: [], running: [], listeners: 0 });
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

  test("the bin says its version", () => {
    const bin = join(packed.root, "dist/bin.js");
    expect(execFileSync(node, [bin, "--version"], { encoding: "utf8" }).trim()).toBe(VERSION);
  });
});

describe("the bin", () => {
  const shell = process.platform === "win32";

  test("is linked under its name", () => {
    const bin = join(packed.folder, "node_modules/.bin/project-automation-emulator");
    expect(execFileSync(bin, ["--version"], { encoding: "utf8", shell }).trim()).toBe(VERSION);
  });

  test("is run by npx", () => {
    const args = ["--no", "--offline", "--", "project-automation-emulator", "--help"];
    const told = execFileSync("npx", args, { cwd: packed.folder, encoding: "utf8", shell });
    expect(told).toMatch(/^Usage: project-automation-emulator /);
  });

  test("can be executed, by whichever node is there", () => {
    const bin = join(packed.root, "dist/bin.js");
    expect(readFileSync(bin, "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
    if (process.platform !== "win32") expect(statSync(bin).mode & 0o111).toBe(0o111);
  });
});

test.each(doors.filter((door) => !door.endsWith("/node")))("%s bundles for a browser", async (door) => {
  const { outputFiles } = await build({
    stdin: { contents: `export * from "${door}";`, resolveDir: packed.folder },
    bundle: true,
    format: "esm",
    platform: "browser",
    external: [...PEERS],
    write: false,
    logLevel: "silent",
  });
  expect(outputFiles[0]?.text).not.toMatch(/["']node:/);
});
