import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, onTestFinished } from "vitest";

/** Makes one file of a program that the tests of a file start often, so that it starts quickly; returns where that is. */
export function bundled(program: string): string {
  const cache = resolve(import.meta.dirname, "../../node_modules/.cache/project-automation"); // finds installed packages
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "child-"));
  const outfile = join(folder, "program.mjs");
  beforeAll(async () => {
    await build({
      entryPoints: [program],
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      external: ["ioredis", "redis"], // CommonJS, which a bundle of this format cannot hold
    });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return outfile;
}

const SOURCES = resolve(import.meta.dirname, "../../src/client");

/** How a program of a test is run. */
export interface ChildOptions {
  /** Default: the Node that runs the tests. */
  readonly executable?: string;
  /** Arguments in front of the program's file. */
  readonly flags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Variables that a developer's machine may have set, and that would decide what these tests are about. */
const DECISIVE_VARIABLES =
  /^(?:https?_proxy|no_proxy|all_proxy|node_options|node_extra_ca_certs|ssl_cert_.*|node_use_.*|project_automation_.*)$/i;

let client: Promise<string> | undefined;

/** The sources of the client as one file, which any runtime takes. */
export function bundleClient(): Promise<string> {
  client ??= bundle();
  return client;
}

async function bundle(): Promise<string> {
  const entryPoints = [join(SOURCES, "index.ts")];
  const { outputFiles } = await build({
    entryPoints,
    bundle: true,
    format: "esm",
    platform: "neutral",
    external: ["node:*"],
    write: false,
  });
  return outputFiles.map(({ text }) => text).join("");
}

/** Runs a program, in which `Client` is imported, in a process of its own. */
export async function runProgram(program: string, options: ChildOptions = {}): Promise<Ran> {
  const folder = mkdtempSync(join(tmpdir(), "project-automation-child-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "program.mjs");
  writeFileSync(join(folder, "client.mjs"), await bundleClient());
  writeFileSync(file, `import { Client } from "./client.mjs";\n${program}`);
  const inherited = Object.entries(process.env).filter(([name]) => !DECISIVE_VARIABLES.test(name));
  const child = spawn(options.executable ?? process.execPath, [...(options.flags ?? []), file], {
    cwd: folder,
    env: { ...Object.fromEntries(inherited), ...options.environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].on("data", (chunk: Buffer) => {
      printed[name] += chunk.toString();
    });
  }
  const code = await new Promise<number | null>((done) => child.on("close", done));
  return { code, ...printed };
}
