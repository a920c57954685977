/**
 * The Next.js snippets of docs/frameworks.md, as an application: built without the variables of the deployment, then
 * started with them.
 */
import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningEmulator, type StartOptions, startEmulator } from "../../../src/testing/node.ts";
import { linkTools, missingTools, runsTools, toolFile } from "../../support/consumer-tools.ts";
import { link } from "../../support/packed.ts";
import { root } from "./snippets.ts";

const LAYOUT = `export default function Layout({ children }: { children: React.ReactNode }) {
  return <html lang="en"><body>{children}</body></html>;
}
`;
/** What the guide warns of. */
const EAGER = `import { Client } from "project-automation";
const client = new Client();
export const automation = () => client;
`;
/**
 * Each of its files is a snippet, whose types `snippets.test.ts` checks. Nothing is kept for another build, nothing is made
 * small, and Next.js builds in one process where it is given a function for webpack. V8 optimizes nothing: a build is too short.
 */
const CONFIG = `import { setFlagsFromString } from "node:v8";
setFlagsFromString("--no-opt");
export default {
  typescript: { ignoreBuildErrors: true },
  webpack: (config) => ({ ...config, cache: false, optimization: { ...config.optimization, minimize: false } }),
};
`;
const COMPILER_OPTIONS = {
  strict: true,
  module: "esnext",
  moduleResolution: "bundler",
  jsx: "react-jsx",
  lib: ["dom", "esnext"],
  skipLibCheck: true,
  noEmit: true,
  paths: { "@/*": ["./*"] },
};

/** Calls through the client of the guide that lets Next.js cache: two of each, as two callers make them. */
const CACHED = `import { automation } from "@/lib/automation";

const title = "from a route";
const until = ({ state }) => state === "done";
const CALLS = {
  list: (client) => client.projects.list({ limit: 50 }).page(),
  issue: (client) => client.issues.create("web", { title, type: "bug" }),
  token: (client) => client.tokens.create({ name: "ci", scopes: ["projects:read"] }),
  wait: (client) => client.sessions.waitFor("ses_1", { until, intervalMs: 10, totalTimeoutMs: 10_000 }),
};

export async function POST(request) {
  const cached = automation().withOptions({ fetchOptions: { next: { revalidate: 60, tags: ["projects"] } } });
  const call = CALLS[new URL(request.url).searchParams.get("call")];
  return Response.json([await call(cached), await call(cached)]);
}
`;

/** A module of the reader's with a client of its own. */
const ROTATING = `import { readFileSync, writeFileSync } from "node:fs";
import { Client, rotatingToken } from "project-automation";

let client;
globalThis.loads = (globalThis.loads ?? 0) + 1;
export function names() {
  client ??= new Client({
    token: rotatingToken({
      token: JSON.parse(readFileSync("token.json", "utf8")),
      onRotated: (token) => writeFileSync("token.json", JSON.stringify(token)),
    }),
  });
  return client.projects.list().toArray().then((projects) => projects.map(({ name }) => name));
}
`;
const ROTATING_PAGE = `import { connection } from "next/server";
import { names } from "@/lib/rotating";
export default async function Page() {
  await connection();
  return <p>{(await names()).join()}</p>;
}
`;
/** Turbopack loads a module once more for route handlers. Webpack does so by a query. */
const ROTATING_ROUTE = `import { names } from "@/lib/rotating?again";
export const GET = async () => Response.json({ names: await names(), loads: globalThis.loads });
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "project-automation-next-"));
  mkdirSync(join(folder, "node_modules", "@types"), { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

/** The snippets whose first line is the path of a file of a Next.js application. */
function writeApplication(): string[] {
  const guide = readFileSync(join(root, "docs", "frameworks.md"), "utf8");
  const files = [...guide.matchAll(/^```tsx?\n(\/\/ ((?:app|lib)\/\S+)\n.*?)^```$/gms)];
  for (const [, code = "", file = ""] of files) write(file, code);
  write("app/layout.tsx", LAYOUT);
  write("app/api/cached/route.js", CACHED);
  write("lib/rotating.js", ROTATING);
  write("app/rotating/page.jsx", ROTATING_PAGE);
  write("app/api/rotating/route.js", ROTATING_ROUTE);
  write("package.json", '{ "private": true }');
  write("next.config.mjs", CONFIG);
  write("tsconfig.json", JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ["**/*.ts", "**/*.tsx"] }));
  return files.map(([, , file = ""]) => file);
}

const { PROJECT_AUTOMATION_TOKEN: _token, PROJECT_AUTOMATION_BASE_URL: _baseUrl, ...inherited } = process.env;
const environment = { ...inherited, NEXT_TELEMETRY_DISABLED: "1", NODE_ENV: "production" };

async function build(): Promise<string> {
  const command = [toolFile("next/dist/bin/next"), "build", "--webpack"]; // Turbopack follows no links out of the folder
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: folder, env: environment });
  return stdout;
}

if (!runsTools) console.log(`Not tried with Next.js: ${missingTools}.`);

describe.runIf(runsTools)("the Next.js application of the guide", () => {
  let files: readonly string[];
  let report: string;
  beforeAll(async () => {
    link(folder, "@types/node");
    linkTools(folder, "@types/react", "next", "react", "react-dom", "typescript");
    symlinkSync(root, join(folder, "node_modules", "project-automation"), "junction");
    files = writeApplication();
    report = await build();
  });

  test("is built without the variables of the deployment, and serves pages with them", async () => {
    expect(files).toEqual([
      "lib/automation.ts",
      "app/api/projects/route.ts",
      "app/projects/page.tsx",
      "app/actions.ts",
    ]);
    expect(report).toMatch(/ƒ \/api\/projects\b/);
    expect(report).toMatch(/ƒ \/projects\b/);

    await serveWith({ projects: [{ name: "web" }, { name: "a/b" }] }, async (origin) => {
      expect(await (await fetch(`${origin}/projects`)).text()).toMatch(/<li>web<\/li><li>a\/b<\/li>/);
      expect(await (await fetch(`${origin}/api/projects?limit=1`)).json()).toMatchObject({ data: [{ name: "web" }] });
      expect((await fetch(`${origin}/api/projects?cursor=`)).status).toBe(400);
    });
  });

  test("rotates a token once for pages and route handlers, each of which loads its module", async () => {
    await serveWith({ projects: [{ name: "web" }] }, async (origin, { emulator }) => {
      write("token.json", JSON.stringify(emulator.createToken({ scopes: ["projects:read"], expires_in_days: 1 })));
      for (let round = 0; round < 2; round += 1) {
        expect(await (await fetch(`${origin}/rotating`)).text()).toContain("<p>web</p>");
        expect(await (await fetch(`${origin}/api/rotating`)).json()).toEqual({ names: ["web"], loads: 2 });
      }
      expect(emulator.requests.map(({ operation, status }) => `${operation} ${status}`)).toEqual([
        "tokens.rotate 201",
        ...Array<string>(4).fill("projects.list 200"),
      ]);
    });
  });

  test("caches the reads that it asks for, and neither answers nor keeps a write", async () => {
    // Next.js keeps a response with 200 alone, and the API documentation leaves the status of a creation open.
    const conventions = { successStatus: { "issues.create": 200, "tokens.create": 200 } };
    await serveWith({ conventions }, async (origin, { emulator }) => {
      const sent = (): string[] => emulator.requests.map(({ operation }) => String(operation));
      const answers: Record<string, { id: string; plaintext: string; number: number; state: string }[]> = {};
      for (const call of ["list", "issue", "token", "wait", "list"]) {
        const response = await fetch(`${origin}/api/cached?call=${call}`, { method: "POST" });
        answers[call] = await response.json();
      }
      expect(sent().filter((operation) => operation === "projects.list")).toHaveLength(1);
      expect(sent().filter((operation) => operation === "issues.create")).toHaveLength(2);
      expect(emulator.issues.list("web").map(({ number }) => number)).toEqual([1, 2]);
      expect(answers["issue"]?.map(({ number }) => number)).toEqual([1, 2]);
      const plaintexts = answers["token"]?.map(({ plaintext }) => plaintext) ?? [];
      expect(new Set(plaintexts).size).toBe(2);
      expect(answers["wait"]?.map(({ state }) => state)).toEqual(["done", "done"]);
      expect(sent().filter((operation) => operation === "sessions.get").length).toBeGreaterThan(2);
      const kept = readdirSync(join(folder, ".next"), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.parentPath.includes(join(".next", "cache")))
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
        .map((text) => text + Buffer.from(/"body":"([^"]*)"/.exec(text)?.[1] ?? "", "base64").toString());
      expect(kept.some((text) => text.includes("next_cursor"))).toBe(true);
      for (const plaintext of plaintexts) expect(kept.join()).not.toContain(plaintext);
    });
  });

  test("is not built if a module creates the client when it is imported", async () => {
    write("lib/automation.ts", EAGER);
    await expect(build()).rejects.toMatchObject({ stderr: expect.stringContaining("ConfigError") });
  });
});

/** Starts the application in front of an emulator. */
async function serveWith(
  options: StartOptions,
  use: (origin: string, service: RunningEmulator) => Promise<void>,
): Promise<void> {
  const service = await startEmulator(options);
  const variables = { PROJECT_AUTOMATION_BASE_URL: service.baseUrl, PROJECT_AUTOMATION_TOKEN: service.token };
  const command = [toolFile("next/dist/bin/next"), "start", "--hostname", "127.0.0.1", "--port", "0"];
  const server = spawn(process.execPath, command, { cwd: folder, env: { ...environment, ...variables } });
  try {
    await use(await originOf(server.stdout), service);
  } finally {
    server.kill();
    await service.close();
  }
}

async function originOf(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const [origin] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
    if (origin !== undefined) return origin;
  }
  throw new Error("the server ended before it listened");
}
