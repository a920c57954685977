/** Beside other versions of the optional peers: installing never fails, and what needs a newer one says so at import. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NEEDS_ALL } from "../../support/all-tests.ts";
import { missingTools, runsTools, toolFile } from "../../support/consumer-tools.ts";
import { type Packed, pack, readJson, runScript } from "../../support/packed.ts";

interface Peer {
  readonly peer: string;
  readonly version: string;
}

const tooOld = /needs.zod.3\.25\.50.or.later/;
/** The versions that applications have, and what the entry point that uses each says when it is loaded. */
const APPLICATIONS = [
  [
    { peer: "zod", version: "3.22.4", entry: "schemas", says: tooOld },
    { peer: "msw", version: "1.3.5", entry: "testing/msw", says: /testing\/msw needs msw 2 or later/ },
    { peer: "@opentelemetry/api", version: "1.8.0", entry: "opentelemetry", says: /needs @opentelemetry\/api 1\.9 or/ },
  ],
  [{ peer: "zod", version: "3.25.0", entry: "schemas", says: tooOld }], // its files are missing
  [{ peer: "zod", version: "3.25.40", entry: "schemas", says: tooOld }],
  [{ peer: "zod", version: "3.25.50", entry: "schemas", says: /^$/ }],
  [
    { peer: "zod", version: "3.25.76", entry: "schemas", says: /^$/ },
    { peer: "@opentelemetry/api", version: "1.9.0", entry: "opentelemetry", says: /^$/ },
  ],
  [
    { peer: "zod", version: "4.0.0", entry: "schemas", says: /^$/ },
    { peer: "msw", version: "2.0.0", entry: "testing/msw", says: /^$/ },
  ],
];

let packed: Packed;
const removeProject = (): void => rmSync(packed.folder, { recursive: true });

const run = (name: string, code: string): string =>
  runScript({ folder: packed.folder, name, code, node: process.execPath });

/** A link leads to what a package depends on; zod, which depends on nothing, looks for itself by its name. */
function install({ peer, version }: Peer): void {
  const source = toolFile(`${peer}-${version}`);
  const place = join(packed.folder, "node_modules", peer);
  if ("dependencies" in Object(readJson(join(source, "package.json")))) symlinkSync(source, place, "junction");
  else cpSync(source, place, { recursive: true });
}

/** What npm, with the registry, installs for an application of these packages and ours: versions by place. */
function versionsByNpm(peers: readonly Peer[]): ReadonlyMap<string, string> {
  const folder = mkdtempSync(join(tmpdir(), "project-automation-"));
  const versions = Object.fromEntries(peers.map(({ peer, version }) => [peer, version]));
  const dependencies = { ...versions, "project-automation": `file:${packed.tarball}` };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies }));
  // It decides what goes where, and whether that can be, as for an install; no file of another package is written.
  const flags = ["--package-lock-only", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"];
  execFileSync("npm", ["install", ...flags], { cwd: folder, stdio: "pipe", shell: process.platform === "win32" });
  const { packages } = readJson(join(folder, "package-lock.json")) as {
    packages: Record<string, { version: string }>; // npm wrote it
  };
  rmSync(folder, { recursive: true });
  return new Map(Object.entries(packages).map(([place, { version }]) => [place, version]));
}

/** What loading entry points in one program ends with: "" or the stack of the error, which begins with its message. */
function load(entries: readonly string[]): Ends {
  const code = `
    import { createRequire } from "node:module";
    const require = createRequire(import.meta.url);
    const ends = {};
    for (const entry of ${JSON.stringify(entries)}) {
      const name = ["project-automation", entry].filter(Boolean).join("/");
      const imported = await import(name).then(() => "", ({ stack }) => stack);
      let required = "";
      try { require(name); } catch ({ stack }) { required = stack; }
      ends[entry] = { imported, required };
    }
    console.log(JSON.stringify(ends));`;
  return JSON.parse(run("load.mjs", code)) as Ends; // which it printed
}
type Ends = Record<string, { readonly imported: string; readonly required: string }>;

if (!runsTools) console.log(`Not tried beside other versions of the peers: ${missingTools}.`);

describe.runIf(runsTools).each(APPLICATIONS)("an application", (...peers) => {
  let ends: Ends;
  beforeAll(() => {
    packed = pack();
    for (const peer of peers) install(peer);
    ends = load(["", ...peers.map(({ entry }) => entry)]);
  });
  afterAll(removeProject);
  test.runIf(NEEDS_ALL)("is installed with its versions, and with no others", () => {
    const versions = versionsByNpm(peers);
    expect(versions.has("node_modules/project-automation")).toBe(true);
    for (const { peer, version } of peers) {
      const places = [...versions.keys()].filter((place) => place.endsWith(`node_modules/${peer}`));
      expect(places).toEqual([`node_modules/${peer}`]);
      expect(versions.get(`node_modules/${peer}`)).toBe(version);
    }
  });

  test.each(peers)("with $peer $version", ({ entry, says }) => {
    expect(ends[""]?.imported).toBe("");
    expect(ends[entry]?.imported).toMatch(says);
    expect(ends[entry]?.required).toMatch(says);
  });

  if (!peers.some(({ peer, version }) => peer === "msw" && version === "2.0.0")) return;
  test("the emulator works behind the oldest msw 2", () => {
    const code = `
      import { setupServer } from "msw/node";
      import { Client } from "project-automation";
      import { createEmulator } from "project-automation/testing";
      import { emulatorHandlers } from "project-automation/testing/msw";
      const emulator = createEmulator();
      const server = setupServer(...emulatorHandlers(emulator));
      server.listen();
      const client = new Client({ baseUrl: emulator.baseUrl, token: emulator.token, retry: { minDelayMs: 0 } });
      emulator.fault({ operation: "projects.list", drop: "before" });
      const projects = await client.projects.list().toArray();
      const { number } = await client.issues.create("web", { title: "t", type: "bug" });
      console.log(projects.length, number);
      server.close();`;
    expect(run("msw.mjs", code)).toBe("3 1\n");
  });
});
