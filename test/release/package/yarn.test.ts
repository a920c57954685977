/** The package in a project of Yarn with its default linker, Plug'n'Play: read from a zip file, with an `fs` of Yarn's. */
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { runsTools, toolFile } from "../../support/consumer-tools.ts";
import { WatchedProcess } from "../../support/watched-process.ts";

const IMPORT = `
  import { Client } from "project-automation";
  import { bulkWrite } from "project-automation/bulk";
  import { fileJournal } from "project-automation/bulk/node";
  const { done, skipped } = await bulkWrite({
    client: new Client(),
    items: ["one", "two"],
    key: (title) => title,
    send: (client, title) => client.issues.create("web", { title, type: "bug" }),
    journal: fileJournal("import.journal"),
  });
  console.log(JSON.stringify({ done, skipped }));`;

/** Of a process of another machine. */
const LOCK = "import.journal.000000000000-1-1-00000000.lock";

describe.runIf(runsTools)("a project of Yarn", () => {
  let folder: string;
  let emulator: WatchedProcess;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "project-automation-"));
    copyFileSync(inject("packed").tarball, join(folder, "package.tgz"));
    const dependencies = { "project-automation": "file:./package.tgz" };
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "user", type: "module", dependencies }));
    const settings = ["enableNetwork: false", "enableTelemetry: false", "globalFolder: ./.yarn/global"];
    for (const [name, text] of [
      ["yarn.lock", ""],
      [".yarnrc.yml", settings.join("\n")],
      ["import.mjs", IMPORT],
    ] as const)
      writeFileSync(join(folder, name), text);
    const installed = yarn("install", "--no-immutable");
    expect([await installed.ended, installed.stderr]).toEqual([0, ""]);
    emulator = yarn("project-automation", "emulator", "--port", "0", "--dotenv", "emulator.env");
    await emulator.says(/Ctrl-C/);
  });
  afterAll(async () => {
    emulator.kill("SIGTERM");
    await emulator.ended;
    rmSync(folder, { recursive: true, force: true });
  });

  const yarn = (...args: readonly string[]): WatchedProcess => {
    const variables = args[0] === "node" ? parseEnv(readFileSync(join(folder, "emulator.env"), "utf8")) : {};
    const env = { ...process.env, ...variables, NODE_NO_WARNINGS: "1" };
    return new WatchedProcess([process.execPath, toolFile("@yarnpkg/cli-dist/bin/yarn.js"), ...args], {
      cwd: folder,
      env,
    });
  };

  test("has a file of variables, and a journal that runs go on with, also after a process that died", async () => {
    for (const told of [
      { done: 2, skipped: 0 },
      { done: 2, skipped: 2 },
      { done: 2, skipped: 2 },
    ]) {
      const program = yarn("node", "import.mjs");
      expect([await program.ended, program.stderr]).toEqual([0, ""]);
      expect(JSON.parse(program.stdout)).toEqual(told);
      expect(existsSync(join(folder, LOCK))).toBe(false);
      writeFileSync(join(folder, LOCK), "is held");
      utimesSync(join(folder, LOCK), 0, 0);
    }
  });
});
