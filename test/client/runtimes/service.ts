/**
 * The service's process: emulators behind real servers, from the packed tarball, which the programs under test ask for
 * over HTTP; the site that browsers open; and the place where every program leaves its report. Run by `harness.ts`.
 */
import { subscribe } from "node:diagnostics_channel";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { pathToFileURL } from "node:url";
import type { RunningEmulator } from "project-automation/testing/node";
import type { Logged, Script, Setup } from "./conformance/bench.ts";

const [, , root = "", folder = ""] = process.argv;
const entry = pathToFileURL(join(root, "dist/testing/node.js")).href;
const { startEmulator } = (await import(entry)) as typeof import("project-automation/testing/node");

/** No `unsafe-eval`, no `unsafe-inline`: what a careful page has. Emulators stand on ports of their own. */
const POLICY = "default-src 'none'; script-src 'self'; worker-src 'self'; frame-src 'self'; connect-src 'self' http:";

/** A promise that is looked at again after every request. */
class Watch {
  readonly #waiting = new Set<() => void>();

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => void this.#waiting.add(resolve));
  }

  look(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

interface Instance {
  readonly running: RunningEmulator;
  readonly watch: Watch;
  readonly preflights: { method: string; headers: string }[];
  arrived: number;
}

const instances = new Map<string, Instance>();

// The emulator logs what it answers; preflights, and requests at their first byte, are seen here.
subscribe("http.server.request.start", (message) => {
  const { request } = message as { request: IncomingMessage };
  const instance = instances.get(String(request.socket.localPort));
  if (instance === undefined) return;
  const { "access-control-request-method": method, "access-control-request-headers": headers } = request.headers;
  if (request.method === "OPTIONS" && typeof method === "string") {
    instance.preflights.push({ method, headers: typeof headers === "string" ? headers : "" });
  } else {
    instance.arrived += 1;
    instance.watch.look();
  }
});

async function start(setup: Setup): Promise<{ id: string; baseUrl: string; token: string }> {
  const watch = new Watch();
  const running = await startEmulator({ projects: 3, ...setup, onRequest: () => watch.look() });
  const id = new URL(running.baseUrl).port;
  instances.set(id, { running, watch, preflights: [], arrived: 0 });
  return { id, baseUrl: running.baseUrl, token: running.token };
}

type Act = (instance: Instance, given: never) => unknown;

const logOf = ({ running }: Instance): Logged[] =>
  running.emulator.requests.map(({ method, path, headers, text, token, status, outcome, at }) => {
    return { method, path, headers, text, token, status, outcome, at };
  });

const acts: Readonly<Record<string, Act>> = {
  fault: ({ running }, script: Script) => void running.emulator.fault(script),
  token: ({ running }, { scopes }: { scopes: string[] }) => running.emulator.createToken({ scopes }).plaintext,
  requests: logOf,
  preflights: ({ preflights }) => preflights,
  arrived: (instance, { count }: { count: number }) => instance.watch.until(() => instance.arrived >= count),
  ended: async (instance, { count }: { count: number }) => {
    const ended = (): number => logOf(instance).filter(({ outcome }) => outcome !== "pending").length;
    await instance.watch.until(() => ended() >= count);
    return logOf(instance);
  },
};

async function answer(path: string, given: never): Promise<unknown> {
  const [kind, id = "", name = ""] = path.split("/").slice(1);
  if (kind === "report") return void process.send?.({ run: id, report: given });
  if (kind === "emulators" && id === "") return await start(given);
  const instance = instances.get(id);
  const act = acts[name];
  if (instance === undefined || act === undefined) throw new Error(`nothing is known of ${path}`);
  return await act(instance, given);
}

const TYPES: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript" };

/** `/package/…` from the installed tarball, `/site/…` from what the harness has built. */
async function serve(url: string, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(url, "http://site");
  const [, kind = "", rest = ""] = /^\/(package|site)\/(.+)$/.exec(normalize(pathname)) ?? [];
  const file = kind === "package" ? join(root, rest) : join(folder, "site", rest);
  const content = kind === "" ? undefined : await readFile(file).catch(() => undefined);
  const type = TYPES[extname(pathname)] ?? "text/plain";
  response.writeHead(content === undefined ? 404 : 200, { "content-type": type, "content-security-policy": POLICY });
  response.end(content);
}

const server = createServer((request, response) => {
  const { method, url = "" } = request;
  void (method === "GET" ? serve(url, response) : obey(url, request, response));
});

async function obey(url: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Uint8Array[] = await request.toArray();
  const text = Buffer.concat(chunks).toString();
  try {
    const said: unknown = await answer(url, JSON.parse(text) as never); // each act knows what it is given
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(said ?? null));
  } catch (error) {
    response.writeHead(500, { "content-type": "application/json" }).end(JSON.stringify({ error: String(error) }));
  }
}

server.listen(0, "127.0.0.1", () => {
  process.send?.({ origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }); // it listens on a port
});
process.on("disconnect", () => process.exit());
