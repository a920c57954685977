import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { VERSION } from "../../src/client/version.ts";
import { doctorIn } from "../../src/doctor/node/command.ts";
import { sendByNode } from "../../src/doctor/node/send.ts";
import type { Report } from "../../src/doctor/report.ts";
import { parseStart } from "../../src/emulator/node/arguments.ts";
import { type Conventions, createEmulator, type Fault } from "../../src/testing/index.ts";
import { type RunningEmulator, type StartOptions, startEmulator } from "../../src/testing/node.ts";
import { virtualClock } from "./examine.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "doctor-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The doctor and the service have the same clock. */
const clock = virtualClock();
const start = (options: StartOptions = {}): Promise<RunningEmulator> => startEmulator({ now: clock.now, ...options });

interface Printed {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(argv: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Printed> {
  const printed = { out: "", err: "" };
  const doctor = doctorIn({ send: (request) => sendByNode(request), sleep: clock.sleep, wallClock: clock.now });
  const code = await doctor.run(argv, {
    out: (text) => {
      printed.out += text;
    },
    err: (text) => {
      printed.err += text;
    },
    environment,
    columns: 100,
    colour: { out: false, err: false },
    runProgram: async () => 0,
    openAddress: async () => false,
    signal: new AbortController().signal,
  });
  return { code, ...printed };
}

function environmentOf({ baseUrl, token }: Pick<RunningEmulator, "baseUrl" | "token">): Record<string, string> {
  return { PROJECT_AUTOMATION_BASE_URL: baseUrl, PROJECT_AUTOMATION_TOKEN: token };
}

const TOKEN = "emu_key_averysecretsecret";

/** The end of each report of an emulator that is asked without `--write`. */
const NOT_ASKED = `
not asked, and why:
  GET /projects/{project}/issues answered 405 method_not_allowed: scope-issues-read, record-issue,
  fields-issue, issue-statuses
  the API documentation shows no endpoint that needs it: scope-enclaves-read, scope-library-read,
  scope-configs-read
  asked only with --write: record-token, fields-token, refusal-missing-scope, refusal-revoked-token,
  refusal-unknown-token-record, token-create, token-lifetime, token-revoke
  the service refused no request; the doctor does not provoke it: retry-after
`;

describe("the command", () => {
  test("says in a sentence that nothing differs, and ends with 0", async () => {
    await using service = await start();
    expect(await run([], environmentOf(service))).toEqual({
      code: 0,
      out: `this is the service; nothing differs from what is assumed (39 as assumed, 16 not asked)
${service.baseUrl}, 22 requests answered
${NOT_ASKED}`,
      err: "",
    });
  });

  test("ends with 1 if something contradicts the API documentation, quotes the sentence, and says what follows", async () => {
    await using service = await start({ conventions: { endOfList: "missing" } });
    const { code, out } = await run([], environmentOf(service));
    expect(code).toBe(1);
    expect(out).toBe(`this is the service; 1 answer contradicts the API documentation (38 as assumed, 16 not asked)
${service.baseUrl}, 22 requests answered

CONTRADICTS end-of-list: How does the last page say that it is the last?
  seen:     no next_cursor
  assumed:  next_cursor is null
  so:       every list() rejects with ResponseValidationError at its last page, with validation:
            lenient too
  about:    the API documentation says of next_cursor "It is null on the last page."; convention
            endOfList
${NOT_ASKED}`);
  });

  test("ends with 2 if the deployment could not be asked, and says why", async () => {
    await using service = await start();
    const { code, out } = await run([], environmentOf({ ...service, token: TOKEN }));
    expect(code).toBe(2);
    expect(out).toBe(`the token is not accepted: GET /projects answered 401 unauthorized
${service.baseUrl}, 2 requests answered
`);
  });

  test("the token of the environment goes to no other service", async () => {
    await using named = await start();
    await using other = await start();
    const sibling = `${named.baseUrl}/sub`;
    for (const address of [other.baseUrl, sibling]) {
      expect(await run(["--base-url", address], environmentOf(named))).toEqual({
        code: 2,
        out: "",
        err: `project-automation doctor: PROJECT_AUTOMATION_TOKEN is for PROJECT_AUTOMATION_BASE_URL (${named.baseUrl}), and --base-url is another service: set both variables for ${address}\n`,
      });
    }
    expect([...named.emulator.requests, ...other.emulator.requests]).toEqual([]);
  });

  test("--json prints the report and nothing else", async () => {
    await using service = await start({ conventions: { limitTooLarge: "refuse" } });
    const { code, out } = await run(["--json"], environmentOf(service));
    const report = JSON.parse(out) as Report; // what it is meant to be
    expect(code).toBe(1);
    expect(report).toMatchObject({ doctor: VERSION, baseUrl: service.baseUrl, result: "contradicts" });
    expect(report.questions.find(({ id }) => id === "limit-above")).toMatchObject({
      verdict: "contradicts",
      seen: "refused: 422 invalid_request",
      assumes: "clamped to 200",
    });
  });

  test("--out writes a file that createEmulator and --seed take", async () => {
    const conventions = { refusals: { unknownSession: { status: 410, code: "gone" } }, sessionState: "queued" };
    await using service = await start({ conventions });
    const file = join(folder, "service.json");
    const { code } = await run(["--out", file, "--write"], environmentOf(service));
    expect(code).toBe(0);
    const seed = JSON.parse(readFileSync(file, "utf8")) as Parameters<typeof createEmulator>[0];
    expect(seed?.conventions).toMatchObject(conventions);
    expect(createEmulator(seed).sessions.list()[0]?.state).toBe("queued");
    expect(parseStart({ seed: file })).toMatchObject({ options: { conventions } });
  });

  const PRIVATE = {
    webhook: "https://hooks.example.net/T0/B0/averysecretpath",
    database: "postgres://admin:hunter2@db.internal/prod",
    note: "call Ada on Tuesday",
    owner: { mail: "ada@acme.test", id: "7f1c2f1e-8a39-4a61-9d3b-0e0f3f1f2a11", since: "2024-05-06T07:08:09.123Z" },
    labels: ["secret-project", "merger"],
    members: { "ada@acme.test": 7, usr_93jd82: true },
    seats: 4711,
    share: 0.375,
    archived: false,
    parent: null,
  };

  test("--out writes placeholders in place of the values of records", async () => {
    const conventions = {
      extraFields: {
        project: PRIVATE,
        session: PRIVATE,
        page: { total: 4711, self: PRIVATE.webhook },
        error: { trace: "4bf92f" },
      },
      sessionState: "waiting for Ada",
    };
    await using service = await start({ projects: 1, conventions });
    const file = join(folder, "placeholders.json");
    const { code, out } = await run(["--out", file, "--all"], environmentOf(service));
    expect(code).toBe(0);
    const text = readFileSync(file, "utf8");
    const seed = JSON.parse(text) as { conventionsOf: string; conventions: Conventions };
    expect(seed.conventionsOf).toMatch(new RegExp(`^${service.baseUrl} on \\d{4}-\\d\\d-\\d\\d$`));
    expect(() => createEmulator({ ...seed })).not.toThrow();
    expect(seed.conventions.extraFields).toEqual({
      project: {
        webhook: "https://example.com/",
        database: "https://example.com/",
        note: "text",
        owner: {
          mail: "someone@example.com",
          id: "00000000-0000-4000-8000-000000000000",
          since: "2026-01-01T00:00:00Z",
        },
        labels: ["text"],
        members: {},
        seats: 1,
        share: 1.5,
        archived: true,
        parent: null,
      },
      session: seed.conventions.extraFields?.project,
      page: { total: 1, self: "https://example.com/" },
      error: { trace: "text" },
    });
    expect(seed.conventions).not.toHaveProperty("sessionState");
    for (const value of [
      /hunter2/,
      /averysecretpath/,
      /acme/,
      /7f1c2f1e/,
      /2024-05/,
      /merger/,
      /4711/,
      /usr_93/,
      /Ada/,
    ]) {
      expect(text + out).not.toMatch(value);
    }
    expect(createEmulator(seed).projects.list()).toHaveLength(3);
  });

  interface Invocation {
    readonly argv: readonly string[];
    readonly environment: Record<string, string>;
  }
  const SET = { PROJECT_AUTOMATION_BASE_URL: "https://service.invalid/api/v1", PROJECT_AUTOMATION_TOKEN: TOKEN };
  test.each<[string, Invocation, string]>([
    [
      "an unknown flag",
      { argv: ["--wirte"], environment: SET },
      "unknown flag --wirte; did you mean --write?; see --help",
    ],
    ["a token as a flag", { argv: [`--token=${TOKEN}`], environment: SET }, "unknown flag --token; see --help"],
    [
      "no token",
      { argv: ["--base-url", "https://x.invalid/api/v1"], environment: {} },
      "no token: set PROJECT_AUTOMATION_TOKEN",
    ],
    [
      "a scheme in the token",
      { argv: [], environment: { ...SET, PROJECT_AUTOMATION_TOKEN: `Bearer ${TOKEN}` } },
      "omit the scheme",
    ],
    [
      "an address that is none",
      { argv: ["--base-url", "service"], environment: SET },
      "--base-url must be an absolute http: or https: URL",
    ],
    [
      "the same, although another one is passed: whose the token is cannot be known",
      {
        argv: ["--base-url", "https://x.invalid/api/v1"],
        environment: { ...SET, PROJECT_AUTOMATION_BASE_URL: "service" },
      },
      "PROJECT_AUTOMATION_BASE_URL must be an absolute http: or https: URL",
    ],
    [
      "plain http to another machine",
      { argv: ["--base-url", "http://x.invalid/api/v1"], environment: { PROJECT_AUTOMATION_TOKEN: TOKEN } },
      "others can read the token",
    ],
  ])("%s: one line, and exit code 2", async (_, { argv, environment }, message) => {
    const { code, out, err } = await run(argv, environment);
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err).toContain("project-automation doctor: ");
    expect(err).toContain(message);
    expect(err).not.toContain(TOKEN);
    expect(err.match(/\n/g)).toHaveLength(1);
  });

  test("a token that was left behind is told on standard error", async () => {
    await using service = await start();
    service.emulator.fault({ times: Infinity, operation: "tokens.revoke", status: 500 });
    const { err } = await run(["--write"], environmentOf(service));
    expect(err).toContain(
      'the token "project-automation-doctor" may still be there: revoke it in the account settings',
    );
  });
});

describe("no secret is in any output", () => {
  const plaintext = "emu_another_0123456789abcdef0123456789abcdef";
  test.each<[string, (token: string) => Fault]>([
    ["the code of an error", (token) => ({ status: 400, body: { error: `no_${token}` } })],
    ["another field of an error", (token) => ({ status: 401, body: { error: "unauthorized", [token]: token } })],
    ["a header", (token) => ({ headers: { "x-request-id": token, "content-type": `text/${token}` } })],
    [
      "the fields of a record",
      (token) => ({
        transform: (body) => ({
          ...body,
          data: [{ id: "p", name: token, [token]: token, api_key: "k", nested: { plaintext } }],
        }),
      }),
    ],
  ])("that the service repeats in %s", async (_, fault) => {
    await using service = await start();
    service.emulator.fault({ times: Infinity, ...fault(service.token) });
    const file = join(folder, "secrets.json");
    writeFileSync(file, "");
    for (const flags of [["--all"], ["--json"]]) {
      const { out, err } = await run([...flags, "--write", "--out", file], environmentOf(service));
      const everything = out.replaceAll(/\s+/g, "") + out + err + readFileSync(file, "utf8");
      const [, , secret = ""] = service.token.split("_");
      for (const one of [service.token, secret, plaintext]) expect(everything).not.toContain(one);
    }
  });

  test("nor is the token that was created, wherever the service repeats it", async () => {
    await using service = await start();
    const created: string[] = [];
    service.emulator.fault({
      operation: "tokens.create",
      transform: (body) => {
        created.push(String(body["plaintext"]));
        return { ...body, note: `keep ${String(body["plaintext"])} safe` };
      },
    });
    const file = join(folder, "created.json");
    const { out, err } = await run(["--write", "--out", file], environmentOf(service));
    expect(created).toHaveLength(1);
    const everything = out + err + readFileSync(file, "utf8");
    expect(everything).not.toContain(created[0]);
    expect(readFileSync(file, "utf8")).toContain('"note": "text"');
  });
});

describe("the program", () => {
  const bin = join(import.meta.dirname, "../../src/bin.ts");

  test("asks a service, and ends with its verdict", async () => {
    await using service = await startEmulator({ projects: 0 });
    const child = spawn(process.execPath, [bin, "doctor", "--json"], {
      env: { ...process.env, ...environmentOf(service) },
    });
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString();
    });
    expect(await once(child, "close")).toEqual([0, null]);
    expect(JSON.parse(out)).toMatchObject({ result: "agrees" });
  });

  test("ends at once when it is interrupted while the service is silent", async () => {
    await using service = await startEmulator();
    service.emulator.fault({ delayMs: Number.POSITIVE_INFINITY, times: Number.POSITIVE_INFINITY });
    const child = spawn(process.execPath, [bin, "doctor"], { env: { ...process.env, ...environmentOf(service) } });
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      err += chunk.toString();
    });
    await expect.poll(() => service.emulator.requests.length).toBe(1);
    child.kill("SIGINT");
    expect(await once(child, "close")).toEqual([2, null]);
    expect(out).toMatch(/^the run was interrupted\n/);
    expect(err).not.toContain("waiting");
  });

  test("revokes the token that it created when it is interrupted", async () => {
    await using service = await startEmulator();
    const child = spawn(process.execPath, [bin, "doctor", "--write"], {
      env: { ...process.env, ...environmentOf(service) },
    });
    await expect
      .poll(() => service.emulator.requests.some(({ operation }) => operation === "tokens.create"))
      .toBe(true);
    child.kill("SIGINT");
    await once(child, "close");
    const [, created] = service.emulator.tokens.list();
    expect(created).toMatchObject({ name: "project-automation-doctor", state: "revoked" });
  });
});
