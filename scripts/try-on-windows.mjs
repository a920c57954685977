/**
 * Tries the packed package as a user does on the first day, on any platform, with nothing but npm and Node: the bin, the
 * quick start against the emulator, an import that is killed and run again, the tools' server over standard input and
 * output, the doctor. Continuous integration runs it on Windows, where no other test runs.
 *
 * Usage: node scripts/setup.mjs && node scripts/try-on-windows.mjs
 */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

const ROWS = 200;
/** The import is killed when its journal has so many lines: some issues are created, some under way, most not begun. */
const LINES_BEFORE_KILL = 100;
const PATIENCE_MS = 60_000;

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const folder = mkdtempSync(join(tmpdir(), "project-automation-try-"));
const installed = join(folder, "node_modules/project-automation");
const bin = join(installed, "dist/bin.js");
const envFile = join(folder, "emulator.env");
const started = new Set();
try {
  install();
  quickStart();
  await startEmulator();
  await killedImport();
  await toolsServer();
  await doctor();
  console.log(`everything works on ${process.platform}, Node ${process.version}`);
} finally {
  for (const child of started) child.kill("SIGKILL");
  await Promise.all([...started].filter(isRunning).map((child) => once(child, "exit")));
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}

function install() {
  const [{ filename }] = JSON.parse(npm(".", "pack", "--ignore-scripts", "--json", "--pack-destination", folder));
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  npm(folder, "install", "--offline", "--ignore-scripts", `./${filename}`);
  cpSync(join(installed, "examples"), join(folder, "examples"), { recursive: true });
  assert.equal(shell(folder, "npx", "--no-install", "project-automation", "--version").trim(), version);
  step("installed from the tarball; npx finds the bin");
}

/** The emulator is slow enough for an import to be killed in the middle. */
async function startEmulator() {
  const child = start(bin, ["emulator", "--latency", "150", "--dotenv", envFile]);
  child.stdout.resume(); // a full pipe would stop it
  await until("the emulator writes its variables", () => {
    assert.ok(isRunning(child), "the emulator ended");
    return existsSync(envFile) && readFileSync(envFile, "utf8").includes("PROJECT_AUTOMATION_TOKEN=");
  });
  step("the emulator listens, and has written its variables");
}

/** The first program of the README, as it stands there, with its command; then a command that is a script on Windows. */
function quickStart() {
  const readme = readFileSync(join(installed, "README.md"), "utf8");
  const [, program] = /^```ts\n(.*?)^```$/ms.exec(readme);
  writeFileSync(join(folder, "app.mjs"), program);
  const [, line] = /^npx (project-automation emulator -- .*)$/m.exec(readme);
  assert.match(shell(folder, "npx", "--no-install", ...line.split(" ")), /^web$/m);
  const words = ["project-automation", "emulator", "--quiet", "--", "npm", "--version"];
  assert.match(shell(folder, "npx", "--no-install", ...words), /^\d+\.\d+\.\d+\s*$/);
  step("the quick start runs, and so does npm behind --");
}

async function killedImport() {
  const file = join(folder, "issues.json");
  const rows = Array.from({ length: ROWS }, (_, row) => ({
    project: "api",
    title: `Issue ${row}`,
    type: "bug",
    id: row,
  }));
  writeFileSync(file, JSON.stringify(rows.map((row) => ({ ...row, id: String(row.id) }))));
  const program = join(folder, "examples/bulk-issues.ts");

  const child = start(`--env-file=${envFile}`, [program, file]);
  child.stdout.resume();
  await until("the import has begun", () => {
    assert.ok(isRunning(child), "the import ended before it was killed");
    return (
      existsSync(`${file}.journal`) && readFileSync(`${file}.journal`, "utf8").split("\n").length > LINES_BEFORE_KILL
    );
  });
  child.kill("SIGKILL");
  await once(child, "exit");

  const { stdout } = await run(program, file);
  const unknown = Number(/^unknown .*: (\d+)$/m.exec(stdout)?.[1]);
  const created = (await numberOfNextIssue("api")) - 1;
  assert.ok(created <= ROWS, `${created} issues of ${ROWS} rows: some are there twice`);
  assert.ok(created + unknown >= ROWS, `${created} issues and ${unknown} unknown of ${ROWS} rows: some are lost`);
  step(`an import was killed and run again: ${created} issues of ${ROWS} rows, ${unknown} to look for, none twice`);
}

/** The service numbers the issues of a project from 1 on. */
async function numberOfNextIssue(project) {
  const program = `
    import { Client } from "project-automation";
    const issue = await new Client().issues.create(${JSON.stringify(project)}, { title: "The last one", type: "bug" });
    console.log(issue.number);`;
  writeFileSync(join(folder, "last.mjs"), program);
  const { stdout } = await run(join(folder, "last.mjs"));
  return Number(stdout);
}

async function toolsServer() {
  const child = start(`--env-file=${envFile}`, [bin, "mcp"]);
  const responses = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ask = async (id, method, params) => {
    send({ id, method, params });
    for (;;) {
      const { value, done } = await responses.next();
      assert.ok(!done, `the server ended before it answered ${method}`);
      const response = JSON.parse(value);
      if (response.id === id) return response.result;
    }
  };
  const clientInfo = { name: "try-on-windows", version };
  await ask(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  send({ method: "notifications/initialized" });
  const { tools } = await ask(2, "tools/list", {});
  assert.ok(tools.some(({ name }) => name === "create_issue"));
  const { structuredContent } = await ask(3, "tools/call", { name: "list_projects", arguments: {} });
  assert.deepEqual(
    structuredContent.data.map(({ name }) => name),
    ["web", "api", "docs"],
  );
  const ended = once(child, "exit");
  child.stdin.end();
  const [code] = await ended;
  assert.equal(code, 0);
  step("the tools' server answers, and ends with its input");
}

async function doctor() {
  const out = join(folder, "conventions.json");
  const { code, stdout } = await run(bin, "doctor", "--out", out);
  assert.equal(code, 0, stdout);
  JSON.parse(readFileSync(out, "utf8"));
  step(`the doctor says: ${stdout.trim().split("\n", 1)[0]}`);
}

/** Runs a program with the variables of the emulator. */
async function run(...args) {
  const child = start(`--env-file=${envFile}`, args);
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  return { stdout, code };
}

function start(first, rest) {
  const env = { ...process.env, NODE_NO_WARNINGS: "1" };
  const child = spawn(process.execPath, [first, ...rest], { cwd: folder, env, stdio: ["pipe", "pipe", "inherit"] });
  started.add(child);
  return child;
}

function isRunning(child) {
  return child.exitCode === null && child.signalCode === null;
}

async function until(what, isSo) {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (!isSo()) {
    assert.ok(performance.now() < giveUpAt, `waited a minute until ${what}`);
    await sleep(10);
  }
}

function npm(cwd, ...args) {
  return shell(cwd, "npm", ...args, "--silent", "--no-audit", "--no-fund");
}

/** npm and npx are scripts of a shell on Windows. */
function shell(cwd, command, ...args) {
  return execFileSync(command, args, {
    cwd,
    encoding: "utf8",
    shell: process.platform === "win32",
    stdio: ["ignore", "pipe", "inherit"],
  });
}

function step(what) {
  console.log(`ok  ${what}`);
}
