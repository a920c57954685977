/** Examples that write, each in a process of its own, when each of their requests fails once. */
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { createEmulator } from "project-automation/testing";
import { ExplorationError, type ExplorationReport, exploreFaults } from "project-automation/testing/node";
import { expect, test } from "vitest";
import { run, temporaryFolder } from "./program.ts";

/** A folder, and an address at which a process finds the emulator of a run. */
interface Ground {
  readonly folder: ReturnType<typeof temporaryFolder>;
  readonly server: Server;
  readonly baseUrl: string;
  fetch: typeof globalThis.fetch;
}

/** Passes a request on. A connection that breaks there breaks here. */
async function passOn(ground: Ground, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { authorization = "" } = request.headers;
  const body = await buffer(request);
  try {
    const {
      status,
      headers,
      body: answer,
    } = await ground.fetch(`https://emulator.invalid${request.url}`, {
      method: request.method ?? "GET",
      headers: { authorization, "content-type": request.headers["content-type"] ?? "application/json" },
      ...(body.length > 0 && { body }),
    });
    response.writeHead(status, { ...Object.fromEntries(headers), connection: "close" });
    for await (const part of answer ?? []) response.write(part);
    response.end();
  } catch {
    request.socket.resetAndDestroy();
  }
}

async function prepare(): Promise<Ground> {
  const ground = { folder: temporaryFolder(), server: createServer(), baseUrl: "", fetch: globalThis.fetch };
  ground.server.on("request", (request, response) => void passOn(ground, request, response));
  await new Promise<void>((resolve) => ground.server.listen(0, "127.0.0.1", resolve));
  const { port } = ground.server.address() as AddressInfo; // it listens on a port
  return Object.assign(ground, { baseUrl: `http://127.0.0.1:${port}/api/v1` });
}

/** The waits of a process between two requests are short: its clock is its own. Limits of time stay as they are. */
const PRELOAD = "const start=setTimeout;globalThis.setTimeout=(f,ms,...rest)=>start(f,ms>8000?ms:ms/20,...rest)";
const SHORT_WAITS = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(PRELOAD)}` };

/** Explores a command of an example that has what it needs in its folder. */
async function explore(command: readonly string[], begin: (folder: string, token: string) => void) {
  return exploreFaults<Ground>({
    prepare,
    dispose: async ({ folder, server }) => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      folder[Symbol.dispose]();
    },
    program: async ({ clientOptions, prepared: ground, start }) => {
      ground.fetch = clientOptions.fetch;
      if (start === 1) begin(ground.folder.path, clientOptions.token);
      const service = { baseUrl: ground.baseUrl, token: clientOptions.token };
      const { code, output } = await run(command, { service, folder: ground.folder.path, env: SHORT_WAITS });
      if (code !== 0) throw new Error(`it ends with ${String(code)}: ${output}`);
    },
  }).catch((error: unknown): ExplorationReport => {
    if (error instanceof ExplorationError) return error.report;
    throw error;
  });
}

const write =
  (file: string, content: (token: string) => string) =>
  (folder: string, token: string): void =>
    writeFileSync(join(folder, file), content(token));
const writeRows = write("rows.csv", () => "project,title,type\nweb,It breaks,bug\napi,It is slow,bug\n");
/** The first token of an emulator has the same id in each of them. */
const id = createEmulator().tokens.list()[0]?.id;
const writeToken = write("token.json", (plaintext) => {
  return JSON.stringify({ id, plaintext, expires_at: new Date(Date.now() + 3_600_000).toISOString() });
});
const writeNothing = (): void => undefined;

test.each([
  { command: ["bulk-issues.ts", "rows.csv"], begin: writeRows, findings: [] },
  { command: ["rotate-token-in-ci.ts", "rotate", "token.json"], begin: writeToken, findings: [] },
  { command: ["rotate-token-in-ci.ts", "work", "token.json"], begin: writeToken, findings: [] },
  // A token whose secret was lost stays until it expires: the program says so.
  { command: ["rotate-token-in-ci.ts", "create", "token.json"], begin: writeNothing, findings: ["twice"] },
])("$command", async ({ command, begin, findings }) => {
  const report = await explore(command, begin);
  expect(report.findings.map(({ what, message }) => (findings.length === 0 ? message : what))).toEqual(findings);
  expect(report.requests).toBeGreaterThan(0);
});
