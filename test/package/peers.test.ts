/** Beside other versions of the optional peers: installing never fails, and what needs a newer one says so at import. */
import { execFileSync } from "node:child_process";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NEEDS_ALL } from "../support/all-tests.ts";
import { type Packed, pack, runScript } from "../support/packed.ts";

let packed: Packed;
beforeAll(() => {
  packed = pack();
}, 60_000);
afterAll(() => rmSync(packed.folder, { recursive: true, force: true }));

const npm = (...args: string[]): string =>
  execFileSync("npm", [...args, "--no-audit", "--no-fund", "--ignore-scripts"], {
    cwd: packed.folder,
    encoding: "utf8",
  });

/** What importing an entry point ends with: "" or the message of the error. */
const importing = (entry: string): string =>
  runScript({
    folder: packed.folder,
    name: `import-${entry.replaceAll("/", "-")}.mjs`,
    code: `await import("${["project-automation", entry].filter(Boolean).join("/")}").catch(({ message }) => process.stdout.write(message));`,
    node: process.execPath,
  });

describe.runIf(NEEDS_ALL)("installed from the registry", () => {
  test.each([
    { peer: "zod@3.22.4", entry: "schemas", says: /'\.\/v4-mini' is not defined by "exports" in .*zod/ },
    { peer: "zod@3.25.76", entry: "schemas", says: /^$/ },
    { peer: "zod@4.0.0", entry: "schemas", says: /^$/ },
    { peer: "msw@1.3.5", entry: "testing/msw", says: /testing\/msw needs msw 2 or later/ },
    { peer: "@opentelemetry/api@1.8.0", entry: "opentelemetry", says: /needs @opentelemetry\/api 1\.9 or later/ },
    { peer: "@opentelemetry/api@1.9.0", entry: "opentelemetry", says: /^$/ },
  ])(
    "beside $peer",
    ({ peer, entry, says }) => {
      const tarball = readdirSync(packed.folder).find((file) => file.endsWith(".tgz")) ?? "";
      rmSync(join(packed.folder, "node_modules"), { recursive: true });
      rmSync(join(packed.folder, "package-lock.json"), { force: true });
      writeFileSync(join(packed.folder, "package.json"), JSON.stringify({ private: true }));
      npm("install", peer);
      npm("install", `./${tarball}`);
      expect(importing("")).toBe("");
      expect(importing(entry)).toMatch(says);
    },
    120_000,
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
