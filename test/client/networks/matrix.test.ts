/**
 * A write whose connection dies, on each runtime: by method, by the way to die, on a new connection and on a used one, with a
 * service that stays away and one that comes back. `broken-connections.txt` shows each cell.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { bundleClient, runProgram } from "../../support/child-program.ts";
import { freePort } from "../../support/free-port.ts";
import { findRuntimes, type Runtime } from "../runtimes/binaries.ts";
import { visit } from "../runtimes/browsers.ts";

const NAMES = ["Node 22", "Node 24", "Node 26", "Bun", "Deno", "Chromium", "Firefox"];
const RUNTIMES = findRuntimes().here.filter(({ name }) => NAMES.includes(name));

const DEATHS = {
  "before the write": undefined,
  "by a reset, when it has applied it": ({ socket }: ServerResponse) => socket?.resetAndDestroy(),
  "by the end of the connection, when it has applied it": ({ socket }: ServerResponse) => socket?.end(),
  "within the head of its response": ({ socket }: ServerResponse) => socket?.end("HTTP/1.1 201 Crea"),
};

interface Cell {
  readonly method: string;
  readonly death: keyof typeof DEATHS;
  readonly isUsed: boolean;
  readonly comesBack: boolean;
}

const CELLS: readonly Cell[] = ["POST", "PATCH", "PUT", "DELETE"].flatMap((method) =>
  (Object.keys(DEATHS) as Cell["death"][]).flatMap((death) =>
    [false, true].flatMap((isUsed) => [false, true].map((comesBack) => ({ method, death, isUsed, comesBack }))),
  ),
);

/** What lets a page of another origin call the services. */
const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "authorization, content-type",
  "access-control-allow-methods": "GET, POST, PATCH, PUT, DELETE",
};

/** A service that dies once. It is away until it is started again. */
class MortalService {
  readonly #cell: Cell;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #hasDied = false;
  port = 0;
  /** Writes that it has received, each of which it has applied. */
  applied = 0;

  constructor(cell: Cell) {
    this.#cell = cell;
  }

  async start(): Promise<this> {
    const server = createServer((request, response) => {
      for (const [name, value] of Object.entries(CORS)) response.setHeader(name, value);
      request.resume().on("end", () => {
        const isWrite = request.method !== "GET" && request.method !== "OPTIONS";
        if (isWrite) this.applied += 1;
        if (isWrite && !this.#hasDied) this.die(response);
        else response.setHeader("content-type", "application/json").end('{"id":"1","state":"on"}');
      });
    });
    server.on("connection", (socket) => void this.#sockets.add(socket));
    this.port ||= await freePort();
    this.#server = server.listen(this.port, "127.0.0.1");
    await once(server, "listening");
    return this;
  }

  die(response?: ServerResponse): void {
    this.#hasDied = true;
    const last = DEATHS[this.#cell.death];
    const { socket: dying } = response ?? {};
    if (response !== undefined) last?.(response);
    this.#server?.close();
    for (const socket of this.#sockets) if (socket !== dying) socket.destroy();
    this.#sockets.clear();
  }

  stop(): void {
    this.#server?.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

interface Told {
  readonly kind?: string;
  readonly outcome: string;
  readonly priorAmbiguous?: boolean;
}

/** Lets services die, and serves a page that runs a program. */
class Control {
  readonly #server: Server;
  readonly #services: readonly MortalService[];
  #program = "";
  #report: (told: readonly Told[]) => void = () => {};
  /** What the program of the page has told. */
  readonly report = new Promise<readonly Told[]>((resolve) => {
    this.#report = resolve;
  });

  constructor(services: readonly MortalService[]) {
    this.#services = services;
    this.#server = createServer((request, response) => void this.#answer(request, response)).listen(0, "127.0.0.1");
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, name = "", index] = request.url?.split("/") ?? [];
    const body = Buffer.concat(await request.toArray()).toString();
    if (name === "die") this.#services[Number(index)]?.die();
    if (name === "back") await this.#services[Number(index)]?.start();
    if (name === "report") this.#report(JSON.parse(body) as readonly Told[]); // the program below tells it
    const script = name === "client.mjs" ? await bundleClient() : name === "program.mjs" ? this.#program : undefined;
    response.setHeader("content-type", script === undefined ? "text/html" : "text/javascript");
    response.end(script ?? '<!doctype html><title>Test</title><script type="module" src="/program.mjs"></script>');
  }

  async origin(): Promise<string> {
    if (!this.#server.listening) await once(this.#server, "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // it listens on a port
  }

  /** Runs a program, in which `Client` is imported, and `tell` takes what it has to say. */
  async run(runtime: Runtime, program: string): Promise<readonly Told[]> {
    if (runtime.kind === "chromium" || runtime.kind === "firefox") {
      this.#program = `import { Client } from "./client.mjs";
        const tell = (told) => fetch("/report", { method: "POST", body: JSON.stringify(told) });
        ${program}`;
      return (await visit(runtime, await this.origin(), this.report)) ?? [];
    }
    const flags = runtime.kind === "deno" ? ["run", "--no-check", "--allow-all"] : [];
    const tell = "const tell = (told) => console.log(JSON.stringify(told));";
    const { stdout, stderr } = await runProgram(`${tell}\n${program}`, { executable: runtime.executable, flags });
    expect(stderr).toBe("");
    return JSON.parse(stdout) as readonly Told[];
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** Runs all cells in one process, or one page, of a runtime, side by side. */
async function runCells(runtime: Runtime): Promise<readonly (Told & { readonly applied: number })[]> {
  const services = await Promise.all(CELLS.map((cell) => new MortalService(cell).start()));
  const control = new Control(services);
  onTestFinished(() => {
    control.stop();
    for (const service of services) service.stop();
  });
  const cells = CELLS.map((cell, index) => ({ ...cell, port: services[index]?.port }));
  const program = `
    import { path } from "./client.mjs";
    const run = async ({ method, death, isUsed, comesBack, port }, index) => {
      const retry = { attempts: 2, minDelayMs: 1 };
      // A platform that sends the write again by itself finds the service away: it comes back for the client.
      const onRequest = async ({ attempt }) => {
        if (attempt > 1 && comesBack) await (await fetch("${await control.origin()}/back/" + index)).text();
      };
      const client = new Client({ baseUrl: "http://127.0.0.1:" + port + "/api/v1", token: "t", retry, timeoutMs: false });
      if (isUsed) await client.sessions.get("1");
      if (death === "before the write") await (await fetch("${await control.origin()}/die/" + index)).text();
      const json = method === "DELETE" ? {} : { json: { title: "One" } };
      return client.request({ method, path: path\`/projects/web\`, ...json }, { onRequest }).then(
        () => ({ outcome: "accepted" }),
        ({ kind, outcome, priorAmbiguous }) => ({ kind, outcome, priorAmbiguous }));
    };
    await tell(await Promise.all(${JSON.stringify(cells)}.map(run)));`;
  const told = await control.run(runtime, program);
  expect(told).toHaveLength(CELLS.length);
  return told.map((one, index) => ({ ...one, applied: services[index]?.applied ?? 0 }));
}

test("no write is applied twice by the client, or called not_sent when it was applied", async () => {
  const columns = new Map<string, Awaited<ReturnType<typeof runCells>>>();
  for (const runtime of RUNTIMES) columns.set(runtime.name, await runCells(runtime)); // one after the other: they share a machine
  for (const [name, told] of columns) {
    told.forEach(({ outcome, applied }, index) => {
      const cell = CELLS[index];
      const where = `${name}: ${JSON.stringify(cell)} is ${outcome}, applied ${applied}`;
      if (outcome === "not_sent") expect(applied, where).toBe(0);
      if (outcome === "accepted") expect(applied, where).toBeGreaterThan(0);
      // A DELETE is sent again by design: what it removes is removed.
      if (cell?.method !== "DELETE") expect(applied, where).toBeLessThanOrEqual(1);
    });
  }
  if (NAMES.every((name) => columns.has(name))) {
    await expect(tableOf(columns)).toMatchFileSnapshot("broken-connections.txt");
  }
});

/** Rows that differ in one column alone become one row. */
function merged(rows: readonly (readonly string[])[], column: number): readonly (readonly string[])[] {
  const groups = new Map<string, string[]>();
  for (const row of rows) {
    const key = row.filter((_, index) => index !== column).join("|");
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [...row]);
    else group[column] += `; ${row[column]}`;
  }
  return [...groups.values()];
}

function tableOf(columns: ReadonlyMap<string, readonly (Told & { readonly applied: number })[]>): string {
  const rows = CELLS.map(({ method, death, isUsed, comesBack }, index) => {
    const cells = NAMES.map((name) => {
      const { outcome, applied } = columns.get(name)?.[index] ?? {};
      return `\`${outcome}\`, ${applied}`;
    });
    return [`\`${method}\``, death, isUsed ? "used" : "new", comesBack ? "yes" : "no", ...cells];
  });
  const head = ["method", "the service dies", "connection", "it comes back", ...NAMES];
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return `# Broken connections

\`test/client/networks/matrix.test.ts\` writes this file. Each cell has the outcome, and how often the service applied the write.
A \`DELETE\` is sent again on purpose. In a browser a preflight comes before each write, so its connection has been used.

${line(head)}
|${"---|".repeat(head.length)}
${[2, 0, 1]
  .reduce(merged, rows as readonly (readonly string[])[])
  .map(line)
  .join("\n")}
`;
}
