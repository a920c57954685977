/** Beside other versions of the optional peers: installing never fails, and what needs a newer one says so at import. */
import { execFileSync, spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NEEDS_ALL } from "../support/all-tests.ts";
import { type Packed, pack, runScript } from "../support/packed.ts";

let packed: Packed;
beforeAll(() => {
  packed = pack();
}, 60_000);
afterAll(() => rmSync(packed.folder, { recursive: true, force: true }));

/** What importing an entry point ends with: "" or the stack of the error, which begins with its message. */
const importing = (entry: string): string =>
  runScript({
    folder: packed.folder,
    name: `import-${entry.replaceAll("/", "-")}.mjs`,
    code: `await import("${nameOf(entry)}").catch(({ stack }) => process.stdout.write(stack));`,
    node: process.execPath,
  });

/** The same of `require`. */
const requiring = (entry: string): string =>
  runScript({
    folder: packed.folder,
    name: `require-${entry.replaceAll("/", "-")}.cjs`,
    code: `try { require("${nameOf(entry)}"); } catch ({ stack }) { process.stdout.write(stack); }`,
    node: process.execPath,
  });

const nameOf = (entry: string): string => ["project-automation", entry].filter(Boolean).join("/");

/** Installs packages, and ours beside them. */
function install(versions: Readonly<Record<string, string>>): void {
  rmSync(join(packed.folder, "node_modules"), { recursive: true });
  rmSync(join(packed.folder, "package-lock.json"), { force: true }); // of the application before
  const dependencies = { ...versions, "project-automation": `file:${packed.tarball}` };
  writeFileSync(join(packed.folder, "package.json"), JSON.stringify({ private: true, dependencies }));
  const flags = ["--no-audit", "--no-fund", "--ignore-scripts"];
  execFileSync("npm", ["install", ...flags], { cwd: packed.folder, encoding: "utf8" });
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

describe.runIf(NEEDS_ALL).each(APPLICATIONS)("an application that is installed from the registry", (...peers) => {
  beforeAll(() => install(Object.fromEntries(peers.map(({ peer, version }) => [peer, version]))), 120_000);

  test.each(peers)("with $peer $version", ({ entry, says }) => {
    expect(importing("")).toBe("");
    expect(importing(entry)).toMatch(says);
    expect(requiring(entry)).toMatch(says);
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
    expect(runScript({ folder: packed.folder, name: "msw.mjs", code, node: process.execPath })).toBe("3 1\n");
  });
});

describe.runIf(NEEDS_ALL)("jest", () => {
  beforeAll(() => install({ jest: "30", "jest-environment-jsdom": "30", "jest-fixed-jsdom": "0.0.11" }), 120_000);

  test.each([
    { environment: "jest-environment-jsdom", says: "createEmulator needs Request, Response, structuredClone: " },
    { environment: "jest-fixed-jsdom", says: "3 projects" },
  ])(
    "with $environment",
    ({ environment, says }) => {
      const code = `
      test("a call through the emulator", async () => {
        const { Client } = require("project-automation");
        const { createEmulator } = require("project-automation/testing");
        const list = async () => new Client(createEmulator().clientOptions).projects.list().toArray();
        const said = await list().then(({ length }) => length + " projects", ({ message }) => message);
        expect(said).toContain("${says}");
      });`;
      writeFileSync(join(packed.folder, "jsdom.test.js"), code);
      const args = ["node_modules/jest/bin/jest.js", "--ci", "--env", environment];
      const { status, stderr } = spawnSync(process.execPath, args, { cwd: packed.folder, encoding: "utf8" });
      expect(status, stderr).toBe(0);
    },
    60_000,
  );
});

test("importing needs no global that jsdom lacks", () => {
  const lacking = ["TextEncoder", "TextDecoder", "fetch", "Request", "Response", "ReadableStream", "structuredClone"];
  const code = `
    void globalThis.Response; // Node makes it of the others when it is first read
    for (const name of ${JSON.stringify([...lacking, "BroadcastChannel", "MessageChannel", "setImmediate"])}) delete globalThis[name];
    for (const entry of ["", "/bulk", "/bulk/node", "/redis", "/testing", "/testing/node"]) await import("project-automation" + entry);
    console.log("imported");`;
  expect(runScript({ folder: packed.folder, name: "jsdom.mjs", code, node: process.execPath })).toBe("imported\n");
});
