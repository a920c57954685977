/** The package under Node's `--permission`: the flags that docs/runtimes.md names are needed, and are enough. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findRuntimes } from "../../client/runtimes/binaries.ts";
import { NEEDS_ALL } from "../../support/all-tests.ts";
import { type Packed, pack, runScript } from "../../support/packed.ts";

const NODES = findRuntimes().here.filter(({ name }) => ["Node 22", "Node 24", "Node 26"].includes(name));
/** Others neither restrict the network nor refuse to flush. */
const RESTRICTED = NODES.filter(({ name }) => name === "Node 26");

let packed: Packed;
let journals: string;
beforeAll(() => {
  packed = pack();
  journals = join(packed.folder, "journals");
  mkdirSync(journals);
});
afterAll(() => rmSync(packed.folder, { recursive: true, force: true }));

const EMULATOR = `
  import { Client } from "project-automation";
  import { startEmulator } from "project-automation/testing/node";
  const told = await startEmulator().then(async ({ clientOptions, close }) => {
    const { number } = await new Client(clientOptions).issues.create("web", { title: "One", type: "bug" });
    await close();
    return { number };
  }, ({ message }) => ({ message }));
  console.log(JSON.stringify(told));`;

const BULK = `
  import { Client } from "project-automation";
  import { bulkWrite } from "project-automation/bulk";
  import { fileJournal } from "project-automation/bulk/node";
  import { createEmulator } from "project-automation/testing";
  const told = await bulkWrite({
    client: new Client(createEmulator().clientOptions),
    items: ["a", "b"],
    key: (title) => title,
    send: (client, title) => client.issues.create("web", { title, type: "bug" }),
    journal: fileJournal(new URL("journals/import.journal", import.meta.url)),
  }).catch(({ kind, reason, message }) => ({ kind, reason, message }));
  console.log(JSON.stringify(told));`;

/** Runs a program that may read its folder, and with more flags. */
function run(node: string, code: string, ...flags: readonly string[]): unknown {
  const all = ["--permission", `--allow-fs-read=${packed.folder}`, "--no-warnings", ...flags];
  return JSON.parse(runScript({ folder: packed.folder, name: "program.mjs", code, node, flags: all }));
}

test("each Node is there, if all tests are asked for", () => {
  expect(NODES.length).toBeLessThanOrEqual(3);
  if (NEEDS_ALL) expect(NODES).toHaveLength(3);
});

describe.each(RESTRICTED)("the emulator on $name", ({ executable }) => {
  test("needs --allow-net, and nothing else", () => {
    expect(run(executable, EMULATOR, "--allow-net")).toEqual({ number: 1 });
  });
});

test.each(NODES)("fileJournal on $name writes if it may, and says so if not", ({ executable, name }) => {
  const failed = { kind: "journal", reason: "failed" };
  expect(run(executable, BULK)).toMatchObject({ ...failed, message: expect.stringContaining("ERR_ACCESS_DENIED") });
  const written = run(executable, BULK, `--allow-fs-write=${journals}`);
  if (name === "Node 26") expect(written).toMatchObject({ ...failed, message: expect.stringContaining("fdatasync") });
  else expect(written).toMatchObject({ done: 2 });
  rmSync(join(journals, "import.journal"), { force: true });
});
