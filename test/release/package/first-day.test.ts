/**
 * The packed package as a user tries it on the first day, with nothing but npm and Node. Continuous integration runs this
 * file on Windows, where it runs no other: nothing in it may need a platform.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { VERSION } from "../../../src/client/version.ts";
import { type Packed, pack } from "../../support/packed.ts";
import { WatchedProcess } from "../../support/watched-process.ts";

const ROWS = 200;
/** The import is killed when its journal has so many records: some issues are created, some under way, most not begun. */
const RECORDS_BEFORE_KILL = 100;

let packed: Packed;
let bin: string;
let asUser: { readonly cwd: string; readonly env: Record<string, string> };
/** Undo what has been set up, the latest first. */
const undo: (() => unknown)[] = [];
beforeAll(async () => {
  packed = pack();
  undo.push(() => rmSync(packed.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));
  bin = join(packed.root, "dist/bin.js");
  writeFileSync(join(packed.folder, "package.json"), '{ "private": true, "type": "module" }');
  cpSync(join(packed.root, "examples"), join(packed.folder, "examples"), { recursive: true });
  // Slow enough for an import to be killed in the middle.
  const variables = join(packed.folder, "emulator.env");
  const emulator = new WatchedProcess([process.execPath, bin, "emulator", "--latency", "150", "--dotenv", variables]);
  undo.unshift(() => {
    emulator.kill("SIGKILL");
    return emulator.ended;
  });
  await emulator.says(/Ctrl-C/);
  const inherited = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  const own = parseEnv(readFileSync(variables, "utf8"));
  asUser = { cwd: packed.folder, env: { ...Object.fromEntries(inherited), ...own, NODE_NO_WARNINGS: "1" } };
});
afterAll(async () => {
  for (const step of undo) await step();
});

/** npx is a script of a shell on Windows. */
function npx(...words: readonly string[]): string {
  return execFileSync("npx", ["--no-install", ...words], {
    cwd: packed.folder,
    encoding: "utf8",
    shell: process.platform === "win32",
    stdio: ["ignore", "pipe", "inherit"],
  });
}

async function run(...args: readonly string[]): Promise<string> {
  const program = new WatchedProcess([process.execPath, ...args], asUser);
  expect([await program.ended, program.stderr]).toEqual([0, ""]);
  return program.stdout;
}

test("npx finds the bin, and the first program of the README runs with its command", () => {
  expect(npx("project-automation", "--version").trim()).toBe(VERSION);
  const readme = readFileSync(join(packed.root, "README.md"), "utf8").replaceAll("\r\n", "\n");
  const [, program = ""] = /^```ts\n(.*?)^```$/ms.exec(readme) ?? [];
  const [, command = ""] = /^npx (project-automation emulator -- .*)$/m.exec(readme) ?? [];
  writeFileSync(join(packed.folder, "app.mjs"), program);
  expect(npx(...command.split(" "))).toMatch(/^web$/m);
});

test("the import of the README begins anew at each emulator that it is started with", () => {
  const readme = readFileSync(join(packed.root, "README.md"), "utf8").replaceAll("\r\n", "\n");
  const programs = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, program = ""]) => program);
  const program = programs.find((text) => text.includes("fileJournal("));
  const client = 'import { Client } from "project-automation"; const client = new Client();\n';
  writeFileSync(join(packed.folder, "import.mjs"), client + program);
  for (let start = 1; start <= 2; start += 1) {
    const words = ["--port", "0", "--quiet", "--", "node", "import.mjs"];
    expect(npx("project-automation", "emulator", ...words)).toMatch(/done: 2,.*skipped: 0/s);
  }
});

test("a command behind -- may be a script of a shell", () => {
  expect(npx("project-automation", "emulator", "--quiet", "--", "npm", "--version")).toMatch(/^\d+\.\d+\.\d+\s*$/);
});

test("an import that is killed and run again creates no issue twice, and loses none", async () => {
  const file = join(packed.folder, "issues.json");
  const rows = Array.from({ length: ROWS }, (_, row) => ({
    project: "api",
    title: `Issue ${row}`,
    type: "bug",
    id: String(row),
  }));
  writeFileSync(file, JSON.stringify(rows));
  const program = join(packed.folder, "examples/bulk-issues.ts");
  const killed = new WatchedProcess([process.execPath, program, file], asUser);
  // Records that are ready together share a line.
  const records = (): number =>
    existsSync(`${file}.journal`) ? readFileSync(`${file}.journal`, "utf8").split('"state":').length : 0;
  await expect.poll(records).toBeGreaterThan(RECORDS_BEFORE_KILL);
  expect(killed.child.exitCode).toBeNull();
  killed.kill("SIGKILL");
  await killed.ended;

  const again = new WatchedProcess([process.execPath, program, file], asUser);
  await again.ended; // 1 if issues are left to look for
  const unknown = Number(/^unknown .*: (\d+)\s*$/m.exec(again.stdout)?.[1]);
  // The service numbers the issues of a project from 1 on.
  writeFileSync(
    join(packed.folder, "last.mjs"),
    `import { Client } from "project-automation";
    const issue = await new Client().issues.create("api", { title: "The last one", type: "bug" });
    console.log(issue.number);`,
  );
  const created = Number(await run("last.mjs")) - 1;
  expect(created).toBeLessThanOrEqual(ROWS);
  expect(created + unknown).toBeGreaterThanOrEqual(ROWS);
});

test("a host of tools starts the server", async () => {
  const host = new Client({ name: "first-day", version: VERSION });
  const transport = new StdioClientTransport({ command: process.execPath, args: [bin, "mcp"], env: asUser.env });
  await host.connect(transport);
  expect((await host.listTools()).tools.map(({ name }) => name)).toContain("create_issue");
  const { structuredContent } = await host.callTool({ name: "list_projects", arguments: {} });
  expect(structuredContent).toMatchObject({ data: [{ name: "web" }, { name: "api" }, { name: "docs" }] });
  await host.close();
});

test("the server of tools ends with its input", async () => {
  const server = new WatchedProcess([process.execPath, bin, "mcp"], asUser);
  onTestFinished(() => server.kill("SIGKILL"));
  const params = {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "first-day", version: VERSION },
  };
  server.type(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
  await server.says(/"serverInfo"/);
  server.child.stdin?.end();
  expect([await server.ended, server.stderr]).toEqual([0, ""]);
});

test("the doctor reads the conventions of the service into a file", async () => {
  const out = join(packed.folder, "conventions.json");
  await run(bin, "doctor", "--out", out);
  expect(JSON.parse(readFileSync(out, "utf8"))).toEqual(expect.any(Object));
});
