import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { VERSION } from "../../src/client/version.ts";
import { createEmulator } from "../../src/testing/index.ts";
import { startEmulator } from "../../src/testing/node.ts";
import { run, started, stopped } from "./run-command.ts";
import type { Body } from "./transports.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "emulator-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Writes a file to seed from. */
function seedFile(content: unknown): string {
  const file = join(folder, `seed-${Math.random().toString(36).slice(2)}.json`);
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

describe("the command", () => {
  test("prints the variables, a snippet and a log, and ends on an interrupt", async () => {
    const running = await started();
    expect((await running.get("/projects")).body.data).toHaveLength(3);
    expect((await running.get(`/nope?token=${running.variable("TOKEN")}`)).status).toBe(404);
    const [baseUrl, token] = [running.variable("BASE_URL"), running.variable("TOKEN")];
    expect(await stopped(running)).toBe(0);
    expect(running.out()).toContain(`curl -H "Authorization: Bearer ${token}" "${baseUrl}/projects"`);
    expect(running.out()).toContain(`    baseUrl: "${baseUrl}",\n    token: "${token}",\n`);
    const time = String.raw`\d\d:\d\d:\d\d\.\d\d\d`;
    expect(running.out()).toMatch(new RegExp(`^${time} 200 GET /api/v1/projects \\d+ ms$`, "m"));
    expect(running.out()).toMatch(
      new RegExp(`^${time} 404 GET /api/v1/nope\\?token=emu_\\w+_\\*{3} \\d+ ms not_found$`, "m"),
    );
    expect(running.err()).toBe("");
    await expect(fetch(baseUrl)).rejects.toThrow("fetch failed");
  });

  test("begins as the flags say", async () => {
    const args = [
      "--host",
      "localhost",
      "--projects",
      "7",
      "--sessions",
      "2",
      "--rate-limit",
      "5",
      "--window-ms",
      "900",
    ];
    const running = await started("--quiet", ...args);
    const projects = await running.get("/projects");
    const sessions = await running.get("/projects/project-7/sessions");
    await stopped(running);
    expect(running.variable("BASE_URL")).toMatch(/^http:\/\/localhost:\d+\/api\/v1$/);
    expect([projects.body.data.length, sessions.body.data.length]).toEqual([7, 2]);
    expect(projects.headers.get("ratelimit-limit")).toBe("5");
  });

  test("makes a new token for each start, and accepts no other", async () => {
    const [one, other] = [await started("--quiet"), await started("--quiet")];
    expect(one.variable("TOKEN")).not.toBe(other.variable("TOKEN"));
    expect(one.variable("TOKEN")).not.toBe(createEmulator().token);
    expect((await one.get("/projects", other.variable("TOKEN"))).status).toBe(401);
    expect([await stopped(one), await stopped(other)]).toEqual([0, 0]);
  });

  test("--latency and --fail disturb every request, also together", async () => {
    const running = await started("--latency", "30", "--fail", "100");
    const { status, body } = await running.get("/projects");
    expect([status, body.error]).toEqual([503, "service_unavailable"]);
    await stopped(running);
    expect(running.out()).toMatch(/ 503 GET \/api\/v1\/projects \d\d+ ms /);
  });

  test("--session-states and --list-issues change what is served", async () => {
    const running = await started("--quiet", "--session-states", "a,b", "--list-issues");
    const [session] = (await running.get("/projects/web/sessions")).body.data;
    const states: string[] = [];
    for (let count = 0; count < 3; count += 1) states.push((await running.get(`/sessions/${session?.id}`)).body.state);
    expect(states).toEqual(["a", "b", "b"]);
    expect((await running.get("/projects/web/issues")).body).toEqual({ data: [], next_cursor: null });
    await stopped(running);
  });

  test("--seed FILE begins as the file says; flags win", async () => {
    const file = seedFile({
      projects: [{ id: "p", name: "web", sessions: [{ id: "s", state: "waiting" }] }, { name: "api" }],
      sessionsPerProject: 4,
      rateLimit: { limit: 9, windowMs: 1000 },
      tokenPrefix: "acme",
      conventions: { refusals: { unknownSession: { code: "no_session" } } },
    });
    const running = await started("--quiet", "--seed", file, "--sessions", "1");
    const body = async (path: string): Promise<Body> => (await running.get(path)).body;
    expect((await body("/projects/p/sessions")).data).toEqual([{ id: "s", state: "waiting" }]);
    expect((await body("/projects/api/sessions")).data).toHaveLength(1);
    expect((await body("/sessions/nope")).error).toBe("no_session");
    expect((await running.get("/projects")).headers.get("ratelimit-limit")).toBe("9");
    expect(running.variable("TOKEN")).toMatch(/^acme_/);
    await stopped(running);
  });

  test("--help and --version print, and end", async () => {
    const [help, version] = [run("--help"), run("--version")];
    expect([await help.code, await version.code]).toEqual([0, 0]);
    expect(version.out()).toBe(`${VERSION}\n`);
    const flags = [
      "port",
      "host",
      "projects",
      "sessions",
      "session-states",
      "list-issues",
      "allow-host",
      "page-from",
      "latency",
      "fail",
      "rate-limit",
      "window-ms",
      "seed",
      "dotenv",
      "stay",
      "json",
      "quiet",
      "help",
      "version",
    ];
    for (const flag of flags) expect(help.out()).toContain(`--${flag}`);
  });

  test.each<[string, readonly string[], string]>([
    ["an unknown flag", ["--prot", "80"], "unknown flag --prot; did you mean --port?; see --help"],
    [
      "an argument",
      ["start"],
      'takes flags only; write -- before a command; in PowerShell write "--", and in place of npm exec use npx',
    ],
    ["a flag without its value", ["--port"], "--port needs a value: --port N"],
    [
      "a flag in the place of a value",
      ["--port", "--quiet"],
      '--port needs a value, and "--quiet" looks like a flag: --port N',
    ],
    ["a number below 0", ["--port", "-1"], '--port needs a value, and "-1" looks like a flag: --port N'],
    ["an empty host", ["--host="], "--host needs a value: --host H"],
    ["an empty name of a host", ["--allow-host", ""], "--allow-host needs a value: --allow-host H"],
    [
      "a name in place of an address",
      ["--page-from", "10.0.0.1", "--page-from", "localhost"],
      '--page-from must be an IP address, such as 172.17.0.1, not "localhost"',
    ],
    [
      "an address in the place of a host",
      ["--allow-host", "emulator", "--allow-host", "http://emulator"],
      '--allow-host must be a host name without scheme and port, such as emulator, not "http://emulator"',
    ],
    ["a value where none belongs", ["--quiet=yes"], "--quiet takes no value"],
    ["a port that is no number", ["--port", "http"], '--port must be a whole number from 0 to 65535, not "http"'],
    ["a port beyond all ports", ["--port", "65536"], '--port must be a whole number from 0 to 65535, not "65536"'],
    ["half a project", ["--projects", "1.5"], '--projects must be a whole number from 0 to 1000000000, not "1.5"'],
    ["a window of 0", ["--window-ms", "0"], '--window-ms must be a whole number from 1 to 1000000000, not "0"'],
    ["a negative limit", ["--rate-limit=-1"], '--rate-limit must be a whole number from 0 to 1000000000, not "-1"'],
    ["more than every request", ["--fail", "101"], '--fail must be a whole number from 0 to 100, not "101"'],
    [
      "an empty state",
      ["--session-states", "a,,b"],
      '--session-states must be states and commas, as in a,b,c, not "a,,b"',
    ],
    ["no state", ["--session-states", ""], "--session-states needs a value: --session-states A,B,C"],
    ["a file that is not there", ["--seed", "/no/such/file"], "cannot use --seed /no/such/file: ENOENT"],
  ])("%s: one line, and exit code 2", async (_, argv, message) => {
    const failed = run(...argv);
    expect(await failed.code).toBe(2);
    expect(failed.out()).toBe("");
    expect(failed.err()).toContain(`project-automation emulator: ${message}`);
    expect(failed.err().match(/\n/g)).toHaveLength(1);
  });

  test.each<[string, unknown, string]>([
    ["is no JSON", "{ projects: 3 }", "JSON"],
    ["holds no object", [], "the seed must be an object such as { projects }, not an array"],
    ["holds an unknown key", { sessions: 3 }, 'the seed must not have the unknown key "sessions"'],
    ["holds an option of another kind", { baseUrl: "https://x" }, 'the seed must not have the unknown key "baseUrl"'],
    [
      "holds a wrong convention",
      { conventions: { endOfList: "no" } },
      "conventions.endOfList must be one of null, empty",
    ],
    ["holds a wrong value", { projects: [{ name: 7 }] }, "json: projects[0].name must be a non-empty string"],
  ])("a seed that %s: one line, and exit code 2", async (_, content, message) => {
    const failed = run("--seed", seedFile(content));
    expect(await failed.code).toBe(2);
    expect(failed.err()).toContain(message);
    expect(failed.err().match(/\n/g)).toHaveLength(1);
  });

  test("a busy port: one line, and exit code 1", async () => {
    await using other = await startEmulator();
    const { port } = new URL(other.baseUrl);
    const failed = run("--port", port);
    expect(await failed.code).toBe(1);
    expect(failed.err()).toContain(
      `project-automation emulator: cannot listen on port ${port} of 127.0.0.1: listen EADDRINUSE`,
    );
  });
});

describe("the program", () => {
  const bin = join(import.meta.dirname, "../../src/bin.ts");
  const start = (...args: string[]): ReturnType<typeof spawn> => spawn(process.execPath, [bin, "emulator", ...args]);

  test.each(["SIGINT", "SIGTERM"] as const)("serves, and ends cleanly on %s", async (signal) => {
    const child = start("--quiet", "--projects", "1");
    let out = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      out += chunk.toString();
    });
    await expect.poll(() => out).toMatch(/TOKEN=\S+\n/);
    const variables = Object.fromEntries(new URLSearchParams(out.trim().replaceAll("\n", "&")));
    const headers = { authorization: `Bearer ${variables["PROJECT_AUTOMATION_TOKEN"]}` };
    expect((await fetch(`${variables["PROJECT_AUTOMATION_BASE_URL"]}/projects`, { headers })).status).toBe(200);
    child.kill(signal);
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  test("prints a mistake on standard error, and ends with 2", async () => {
    const child = start("--nope");
    let err = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      err += chunk.toString();
    });
    expect(await once(child, "close")).toEqual([2, null]);
    expect(err).toBe("project-automation emulator: unknown flag --nope; see --help\n");
  });
});
