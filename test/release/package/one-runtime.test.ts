/** Machines that have one runtime and no Node: nothing else is on the PATH, or nothing but a shell. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NEEDS_ALL } from "../../support/all-tests.ts";
import { type Packed, pack } from "../../support/packed.ts";
import { OTHER_PLATFORMS } from "../../support/platforms.ts";
import { CLOSED_PORT } from "../../support/raw-server.ts";
import { WatchedProcess } from "../../support/watched-process.ts";

const APP = `
  import { Client } from "project-automation";
  for await (const { name } of new Client().projects.list()) console.log(name);`;
const STAYS = `console.log("it runs"); setInterval(() => {}, 1_000);`;

/** Of a company's machine: requests to this machine that go there fail. */
const proxy = `http://127.0.0.1:${CLOSED_PORT}`;
const PROXIES = { HTTP_PROXY: proxy, http_proxy: proxy, ALL_PROXY: proxy };

let packed: Packed;
let bin: string;
beforeAll(() => {
  packed = pack();
  bin = join(packed.root, "dist/bin.js");
  writeFileSync(join(packed.folder, "app.mjs"), APP);
  writeFileSync(join(packed.folder, "stays.mjs"), STAYS);
});
afterAll(() => rmSync(packed.folder, { recursive: true, force: true }));

test.runIf(NEEDS_ALL)("Bun and Deno are at hand", () => {
  expect(OTHER_PLATFORMS.map(({ name }) => name)).toEqual(["Bun", "Deno"]);
});

test("Node that heeds a proxy of the environment goes past it", async () => {
  const env = { ...process.env, ...PROXIES, NODE_USE_ENV_PROXY: "1" };
  const words = [process.execPath, bin, "emulator", "--port", "0", "--", process.execPath, "app.mjs"];
  const emulator = new WatchedProcess(words, { cwd: packed.folder, env });
  expect(await emulator.ended).toBe(0);
  expect(emulator.stdout).toBe("web\napi\ndocs\n");
});

describe.each(OTHER_PLATFORMS)("$name alone", ({ platform: [executable, ...args] }) => {
  const name = basename(executable);
  const runs = [name, ...args];
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "project-automation-path-"));
    for (const alone of ["nothing", "a shell"]) {
      mkdirSync(join(folder, alone));
      symlinkSync(executable, join(folder, alone, name));
    }
    symlinkSync("/bin/sh", join(folder, "a shell", "sh"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const start = (beside: string, ...words: readonly string[]): WatchedProcess => {
    const env = { ...PROXIES, HOME: folder, DENO_NO_UPDATE_CHECK: "1", PATH: join(folder, beside) };
    return new WatchedProcess([executable, ...args, bin, "emulator", "--port", "0", ...words], {
      cwd: packed.folder,
      env,
    });
  };

  describe.each(["nothing", "a shell"])("and %s beside it", (beside) => {
    test("runs a program against the emulator, past a proxy of the environment, and ends with its code", async () => {
      const emulator = start(beside, "--", ...runs, "app.mjs");
      expect(await emulator.ended).toBe(0);
      expect(emulator.stdout).toBe("web\napi\ndocs\n");
    });
  });
});
