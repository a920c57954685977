/**
 * A service that dies between two requests of one connection, when it has applied a write. The connection belongs to the
 * platform, and not to the client: so it does not matter who opened it. A write is applied at most once, and is never called
 * `not_sent` when it was applied.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { afterEach, expect, test } from "vitest";
import { runProgram } from "../../support/child-program.ts";
import { freePort } from "../../support/free-port.ts";
import { send, serve } from "../../support/http-server.ts";
import { findRuntimes, type Runtime } from "../runtimes/binaries.ts";

const PROCESSES = findRuntimes().here.filter(({ kind }) => ["node", "bun", "deno"].includes(kind));
const flagsOf = ({ kind }: Runtime): readonly string[] => (kind === "deno" ? ["run", "--no-check", "--allow-all"] : []);

/** Applies the first write, and dies before it answers it. It is away until it is started again. */
class DyingService {
  applied = 0;
  #server: Server | undefined;
  port = 0;

  async start(): Promise<this> {
    const server = createServer((request, response) => {
      request.resume().on("end", () => {
        const isWrite = request.method !== "GET";
        if (isWrite) this.applied += 1;
        if (isWrite && this.applied === 1) this.stop();
        else if (request.method === "DELETE") response.writeHead(404).end();
        else response.setHeader("content-type", "application/json").end(isWrite ? CREATED : SESSION);
      });
    });
    this.port ||= await freePort();
    this.#server = server.listen(this.port, "127.0.0.1");
    await once(server, "listening");
    return this;
  }

  stop(): void {
    this.#server?.close();
    this.#server?.closeAllConnections();
  }
}

const CREATED = JSON.stringify({ number: 1, title: "One", status: "open" });
const SESSION = JSON.stringify({ id: "1", state: "on" });

let service: DyingService | undefined;
afterEach(() => service?.stop());

const OPENED_BY = {
  nobody: "",
  "this client": "await client.sessions.get('1');",
  "another client": "await new Client({ baseUrl, token: 'other' }).sessions.get('1');",
  "the application's own fetch": "await (await fetch(baseUrl + '/health')).text();",
};
const WRITES = {
  POST: "client.issues.create('web', { title: 'One', type: 'bug' }, hook)",
  DELETE: "client.tokens.revoke('t_1', hook)",
  PUT: "client.request({ method: 'PUT', path: (await import('./client.mjs')).path`/projects/web`, json: { name: 'Web' } }, hook)",
};

/** Runs one write of a client in a process of the runtime, and returns what it was told. `onRequest` is that of the write. */
async function run(
  runtime: Runtime,
  port: number,
  { open = "", write = WRITES.POST, options = "", onRequest = "undefined" },
) {
  const program = `
    const baseUrl = "http://127.0.0.1:${port}/api/v1";
    const client = new Client({ baseUrl, token: "t", retry: { minDelayMs: 1 }, timeoutMs: false, ${options} });
    const hook = { onRequest: ${onRequest} };
    ${open}
    const told = await ${write}.then(() => ({ outcome: "accepted" }), ({ kind, outcome, attempts, priorAmbiguous, message }) =>
      ({ kind, outcome, attempts, priorAmbiguous, message }));
    console.log(JSON.stringify(told));`;
  const { stdout, stderr } = await runProgram(program, { executable: runtime.executable, flags: flagsOf(runtime) });
  expect(stderr).toBe("");
  return JSON.parse(stdout) as { readonly outcome: string; readonly attempts?: number };
}

test.each(PROCESSES.filter(({ kind }) => kind === "deno"))(
  "$name, with a client of the application: a DELETE that the platform sent again is ambiguous",
  async (runtime) => {
    const { port, seen } = await serve((response, { method }) => {
      const deletes = seen.filter((request) => request.method === "DELETE").length;
      if (method !== "DELETE") send(response, 200, { id: "1", state: "done" });
      else if (deletes === 1) response.destroy();
      else send(response, 404, { error: "not_found" });
    });
    const options = "fetchOptions: { client: Deno.createHttpClient({}) }";
    const told = await run(runtime, port, { open: OPENED_BY["this client"], write: WRITES.DELETE, options });
    expect(told).toMatchObject({ kind: "not_found", outcome: "rejected", attempts: 1, priorAmbiguous: true });
    expect(seen.filter(({ method }) => method === "DELETE")).toHaveLength(2);
  },
);

// What they publish on the channels of Node says nothing about a write: it may have left before.
test.each(PROCESSES)("$name: the channels of undici are listened to on Node alone", async (runtime) => {
  const program = `
    import { channel } from "node:diagnostics_channel";
    let heard;
    const fetch = async () => {
      heard = channel("undici:client:connectError").hasSubscribers;
      throw new Error("no");
    };
    const client = new Client({ baseUrl: "https://service.example.com/api/v1", token: "t", fetch, retry: false });
    const hook = {};
    await ${WRITES.POST}.catch(() => undefined);
    console.log(heard);`;
  const { stdout } = await runProgram(program, { executable: runtime.executable, flags: flagsOf(runtime) });
  expect(stdout.trim()).toBe(String(runtime.kind === "node"));
});
