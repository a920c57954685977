/**
 * Programs on each runtime that stand still for longer than their limits, as with a closed lid or Ctrl-Z, while a response is
 * on its way. The response that has arrived meanwhile counts. Time is the subject: limits and stops are real.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROGRAM_LIMIT_MS } from "../../support/limits.ts";
import { type Packed, pack } from "../../support/packed.ts";
import { findRuntimes, type Runtime } from "./binaries.ts";
import { argumentsFor } from "./processes.ts";

const runtimes = findRuntimes().here.filter(({ kind }) => kind === "node" || kind === "bun" || kind === "deno");

const TIMEOUT_MS = 2_000;
const STOPPED_MS = 2 * TIMEOUT_MS;

interface Case {
  readonly title: string;
  readonly work: string;
  readonly isCompressed?: boolean;
  readonly isSilent?: boolean;
  readonly told: unknown;
}

const ISSUE = { number: 1, title: "one", status: "open" };
const TOKEN = {
  ...{ id: "tok_2", name: "ci", key_id: "K2", plaintext: "emu_K2_TheNewSecret", scopes: [] },
  expires_at: "2300-01-01T00:00:00Z",
};

const CASES: readonly Case[] = [
  { title: "a write has its response", work: "create", told: ISSUE },
  { title: "a write has its compressed response", work: "create", isCompressed: true, told: ISSUE },
  { title: "a rotation has its token", work: "rotation", told: { stored: [TOKEN.plaintext] } },
  { title: "a wait has its session", work: "wait", told: { id: "slow", state: "done" } },
  { title: "each item of a bulk write is done", work: "bulk", told: { done: 30, skipped: 0 } },
  {
    title: "a write without a response ends",
    work: "create",
    isSilent: true,
    told: { kind: "timeout", outcome: "unknown" },
  },
];

/** The service, and the program that it stops as soon as the first slow request is there. */
class Ground {
  readonly #server: Server;
  readonly #case: Case;
  #child: ChildProcess | undefined;
  #stopped: Promise<void> | undefined;

  constructor(one: Case) {
    this.#case = one;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  /** Runs the program to its end. Returns what it has printed. */
  async run({ executable, ...runtime }: Runtime, folder: string): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const { port } = this.#server.address() as AddressInfo; // it listens on a port
    const program = ["./stopped.mjs", this.#case.work, `http://127.0.0.1:${port}/api/v1`, String(TIMEOUT_MS)];
    const child = spawn(executable, argumentsFor({ executable, ...runtime }, program), {
      cwd: folder,
      env: { PATH: process.env["PATH"], HOME: folder, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    const printed: string[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => printed.push(String(chunk)));
    const timer = setTimeout(() => child.kill("SIGKILL"), PROGRAM_LIMIT_MS);
    await once(child, "close");
    clearTimeout(timer);
    this.#server.closeAllConnections();
    this.#server.close();
    return printed.join("").trim();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "" } = request;
    const { title = "" } = JSON.parse(Buffer.concat(await request.toArray()).toString() || "{}") as { title?: string };
    const isSlow = method === "POST" || url.endsWith("/slow");
    if (isSlow) this.#stopped ??= this.#stop();
    if (isSlow && this.#case.isSilent) return;
    const due = method === "GET" ? { id: url.split("/").at(-1), state: "done" } : { ...ISSUE, title };
    const body = JSON.stringify(url.endsWith("/rotate") ? TOKEN : due);
    response.setHeader("content-type", "application/json");
    if (this.#case.isCompressed) response.setHeader("content-encoding", "gzip");
    response.statusCode = method === "POST" ? 201 : 200;
    response.end(this.#case.isCompressed ? gzipSync(body) : body);
  }

  async #stop(): Promise<void> {
    this.#child?.kill("SIGSTOP");
    await sleep(STOPPED_MS);
    this.#child?.kill("SIGCONT");
  }
}

describe.skipIf(runtimes.length === 0).concurrent("a program that stood still", () => {
  let packed: Packed;
  beforeAll(async () => {
    packed = pack();
    await build({
      entryPoints: [join(import.meta.dirname, "programs/stopped.ts")],
      outfile: join(packed.folder, "stopped.mjs"),
      bundle: true,
      format: "esm",
      platform: "neutral",
      target: "es2022",
      external: ["project-automation", "project-automation/*"],
      logLevel: "silent",
    });
  });
  afterAll(() => rmSync(packed.folder, { recursive: true, force: true }));

  const all = runtimes.flatMap((runtime) => CASES.map((one) => ({ ...one, runtime, on: runtime.name })));
  test.each(all)("on $on: $title", async ({ runtime, on: _, ...one }) => {
    const printed = await new Ground(one).run(runtime, packed.folder);
    expect(JSON.parse(printed)).toEqual(one.told);
  });
});
