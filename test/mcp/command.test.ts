/** `project-automation mcp` as hosts start it: a process, standard input and output. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { parseJSONRPCMessage } from "@modelcontextprotocol/server";
import { type RunningEmulator, startEmulator } from "project-automation/testing/node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Host, type Revision, startProgram } from "./hosts.ts";

const BIN = join(import.meta.dirname, "../../dist/bin.js");

let service: RunningEmulator;
beforeAll(async () => {
  service = await startEmulator({ rateLimit: false });
});
afterAll(async () => {
  await service.close();
});

const environment = (): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "",
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
  PROJECT_AUTOMATION_BASE_URL: service.baseUrl,
  PROJECT_AUTOMATION_TOKEN: service.token,
  PROJECT_AUTOMATION_LOG: "debug",
});

const start = (line: Revision, ...flags: string[]): Promise<Host> =>
  startProgram({ command: process.execPath, args: [BIN, "mcp", ...flags], env: environment(), stderr: "pipe" }, line);

describe.each(["current", "older"] as const)("with the %s client of the protocol", (line) => {
  test("the tools are served", async () => {
    const host = await start(line);
    expect((await host.client.listTools()).tools).toHaveLength(5);
    expect((await host.call("get_session", { id: "ses_1" })).structured).toMatchObject({ id: "ses_1" });
    await host.close();
  });
});

interface Run {
  readonly process: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  readonly exitCode: () => Promise<number | null>;
}

function run(flags: readonly string[], env: Record<string, string> = environment()): Run {
  const child = spawn(process.execPath, [BIN, "mcp", ...flags], { env, stdio: "pipe" });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  const closed = once(child, "close") as Promise<[number | null]>;
  return {
    process: child,
    out: () => out,
    err: () => err,
    exitCode: async () => (await closed)[0],
  };
}

const write = (child: ChildProcess, message: object): void => {
  child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
};

const initialize = {
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};
const slowCall = {
  id: 2,
  method: "tools/call",
  params: { name: "create_issue", arguments: { project: "web", title: "slow", type: "bug" } },
};

describe("the end", () => {
  test.each([
    ["the end of input", (child: ChildProcess) => child.stdin?.end()],
    ["SIGTERM", (child: ChildProcess) => child.kill("SIGTERM")],
    ["SIGINT", (child: ChildProcess) => child.kill("SIGINT")],
    ["SIGHUP", (child: ChildProcess) => child.kill("SIGHUP")],
  ] as const)("comes with %s, also while a call is in flight, which is aborted", async (_, end) => {
    service.emulator.fault({ operation: "issues.create", delayMs: 60_000, times: 1 });
    const before = service.emulator.requests.length;
    const { process: child, exitCode, out, err } = run([]);
    write(child, initialize);
    write(child, { method: "notifications/initialized" });
    write(child, slowCall);
    await expect.poll(() => service.emulator.requests.length).toBeGreaterThan(before);
    end(child);
    expect(await exitCode()).toBe(0);
    expect(err()).toContain("issues.create: aborted by the caller while waiting for the response");
    expect(service.emulator.requests.at(-1)?.outcome).toBe("aborted");
    for (const line of out().trim().split("\n")) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
  });
});

/** The environment without an address, so that its token is for any. */
const withoutAddress = (): Record<string, string> => ({ ...environment(), PROJECT_AUTOMATION_BASE_URL: "" });

test("plain http: to another machine is served if a flag allows it", async () => {
  const flags = ["--base-url", "http://service.invalid/api/v1", "--allow-insecure-http"];
  const { process: child, exitCode, out } = run(flags, withoutAddress());
  write(child, initialize);
  await expect.poll(out).not.toBe("");
  child.stdin?.end();
  expect(await exitCode()).toBe(0);
});

test("a host that reads no more ends it as the end of input does", async () => {
  const { process: child, exitCode, err } = run([]);
  child.stdout?.destroy();
  write(child, initialize);
  expect(await exitCode()).toBe(0);
  expect(err()).not.toContain("Warning");
});

/** The codes of the protocol's error replies on standard output, each with the id that it answers. */
const refusals = (out: string): unknown[] =>
  out
    .trim()
    .split("\n")
    .map((line) => parseJSONRPCMessage(JSON.parse(line)))
    .flatMap((reply) => ("error" in reply ? [[reply.error.code, reply.id]] : []));

test("a line that is too long is refused, and ends it with a status of its own", async () => {
  const { process: child, exitCode, out, err } = run([]);
  child.stdin?.on("error", () => {}); // it reads no more
  write(child, { id: 1, method: "ping", params: { long: "x".repeat(11 * 2 ** 20) } });
  expect(await exitCode()).toBe(3);
  expect(refusals(out())).toEqual([[-32_600, undefined]]);
  expect(err().match(/longer than 10 MiB/g)).toHaveLength(1);
});

test("a byte order mark before a message is no part of it", async () => {
  const { process: child, exitCode, out } = run([]);
  for (const id of [1, 2]) child.stdin?.write(`\ufeff${JSON.stringify({ jsonrpc: "2.0", ...initialize, id })}\r\n`);
  await expect.poll(out).toContain('"id":1');
  child.stdin?.end();
  expect(await exitCode()).toBe(0);
  expect(refusals(out())).toEqual([]);
});

test.each([
  ["no JSON", -32_700, [], ["hunter22", '{"jsonrpc":"2.0","hunter22', "\u0000"]],
  ["JSON that is no message", -32_600, [], ['{"password":"hunter22"}', "[]", "null", '{"id":1.5}', '{"id":{}}']],
  [
    "a request that is none",
    -32_600,
    [7, "a"],
    ['{"jsonrpc":"2.0","id":7,"method":"ping","hunter22":2}', '{"jsonrpc":"1.0","id":"a","method":"ping"}'],
  ],
])("%s gets the error reply of the protocol, without its content, and the server goes on", async (...row) => {
  const [, code, ids, lines] = row;
  const { process: child, exitCode, out, err } = run([]);
  child.stdin?.write(["", ...lines, ""].join("\n"));
  write(child, initialize);
  await expect.poll(out).toContain('"id":1');
  child.stdin?.end();
  expect(await exitCode()).toBe(0);
  expect(refusals(out())).toEqual(lines.map((__, at) => [code, ids[at]]));
  expect(out() + err()).not.toContain("hunter22");
});

test("a last line needs no end", async () => {
  const { process: child, exitCode, out } = run([]);
  child.stdin?.write('{"jsonrpc":"2.0","id":7,"method":"ping"}\n');
  await expect.poll(out).toContain('"id":7');
  child.stdin?.end("hunter22");
  expect(await exitCode()).toBe(0);
  expect(refusals(out())).toEqual([[-32_700, undefined]]);
});

test("a host that closes standard error ends nothing", async () => {
  const { process: child, exitCode, out } = run([]); // it says on standard error what it sends
  child.stderr?.destroy();
  write(child, initialize);
  write(child, { method: "notifications/initialized" });
  for (let id = 2; id < 5; id += 1) {
    write(child, { id, method: "tools/call", params: { name: "list_projects", arguments: {} } });
    await expect.poll(() => out().includes(`"id":${id}`) || child.exitCode !== null).toBe(true);
  }
  expect(out()).toContain('"id":4');
  child.stdin?.end();
  expect(await exitCode()).toBe(0);
});

test("nothing but the protocol is on standard output, and no token anywhere", async () => {
  const { process: child, exitCode, out, err } = run([]);
  write(child, initialize);
  write(child, { method: "notifications/initialized" });
  write(child, { id: 2, method: "tools/call", params: { name: "list_projects", arguments: {} } });
  child.stdin?.write("this is not JSON\n");
  await expect.poll(out).toContain('"id":2');
  child.stdin?.end();
  await exitCode();
  for (const line of out().trim().split("\n")) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
  expect(err()).toContain("projects.list");
  expect(out() + err()).not.toContain(service.token);
});

describe("a mistake is one clear line, and exit code 2", () => {
  test.each([
    [["--tools", "list_project"], /unknown tool "list_project"; there are list_projects/],
    [["--read-only", "--tools", "create_issue"], /"create_issue" beside readOnly/],
    [["--read-onyl"], /--read-only/],
    [
      ["--base-url", "https://service.invalid/api/v1"],
      /PROJECT_AUTOMATION_TOKEN is for PROJECT_AUTOMATION_BASE_URL \(http.*\), and --base-url is another service/,
    ],
    [
      ["--base-url", "http://service.invalid/api/v1"],
      /plain http: .* use https:, or --allow-insecure-http$/m,
      withoutAddress,
    ],
    [["--base-url", "x"], /--base-url must be an absolute http: or https: URL/],
    [
      [],
      /PROJECT_AUTOMATION_BASE_URL must be an absolute http: or https: URL/,
      () => ({ ...environment(), PROJECT_AUTOMATION_BASE_URL: "x" }),
    ],
  ] as const)("%j", async (flags, message, env = environment) => {
    const { exitCode, out, err } = run(flags, env());
    expect(await exitCode()).toBe(2);
    expect(err()).toMatch(message);
    expect(err().trim().split("\n")).toHaveLength(1);
    expect(out()).toBe("");
  });

  test("also without a token, or an address", async () => {
    const { PROJECT_AUTOMATION_TOKEN: _, ...noToken } = environment();
    const { PROJECT_AUTOMATION_BASE_URL: __, ...noAddress } = environment();
    for (const [env, name] of [
      [noToken, "PROJECT_AUTOMATION_TOKEN"],
      [noAddress, "PROJECT_AUTOMATION_BASE_URL"],
    ] as const) {
      const { exitCode, err } = run([], env);
      expect(await exitCode()).toBe(2);
      expect(err()).toContain(name);
    }
  });
});
