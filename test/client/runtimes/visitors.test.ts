/**
 * A Worker, in workerd itself, whose visitors are answered before their calls have ended: the others get through. One
 * client serves all of them.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync, globSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join, relative } from "node:path";
import type { Readable } from "node:stream";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Packed, pack } from "../../support/packed.ts";
import { findRuntimes } from "./binaries.ts";

const workerd = findRuntimes().here.find(({ kind }) => kind === "workerd");

const SLOW_MS = 400;
const SERVED: Readonly<Record<string, readonly [status: number, body: object, afterMs: number]>> = {
  missing: [404, { error: "not_found" }, 0],
  slow: [200, { id: "slow", state: "done" }, SLOW_MS],
  limited: [429, { error: "too_many_requests" }, 0],
  fine: [200, { id: "fine", state: "done" }, 0],
  projects: [200, { data: ["slow", "fine"].map((name) => ({ id: `prj_${name}`, name })), next_cursor: null }, 0],
};
const ISSUE = { number: 1, title: "It breaks", type: "bug", status: "open" };
const ROTATED = {
  id: "stored",
  key_id: "pat_new",
  plaintext: "pat_new_secret",
  name: "job",
  scopes: ["sessions:read"],
};

/** The service: slow where a visitor leaves, so that something of the visit is under way. */
function serve({ url = "", headers }: IncomingMessage, response: ServerResponse): void {
  const end = (status: number, body: string, afterMs: number): void => {
    const timer = setTimeout(() => {
      response.writeHead(status, { "content-type": "application/json", "retry-after": "1" }).end(body);
    }, afterMs);
    response.on("close", () => clearTimeout(timer));
  };
  const [status, body, afterMs] = SERVED[url.replace(/\?.*/, "").split("/").at(-1) ?? ""] ?? [404, {}, 0];
  if (url === "/vault") end(200, "pat_key_secret", SLOW_MS);
  else if (url.endsWith("/stored/rotate"))
    end(200, JSON.stringify({ ...ROTATED, expires_at: "2040-01-01T00:00:00Z" }), 0);
  else if (url.endsWith("/issues")) end(201, JSON.stringify(ISSUE), url.includes("/slow/") ? SLOW_MS : 0);
  else if (url.endsWith("/rotate")) end(503, "{}", 1_500);
  else if (headers.authorization === "Bearer pat_revoked_secret") end(401, '{"error":"unauthorized"}', 0);
  else end(status, JSON.stringify(body), afterMs);
}

interface Ground {
  readonly packed: Packed;
  readonly service: Server;
  readonly worker: ChildProcess;
  readonly origin: string;
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
}

/** Starts the Worker. Resolves when it listens, with its origin. */
async function startWorker(executable: string, folder: string): Promise<Pick<Ground, "worker" | "origin">> {
  const stdio = ["ignore", "ignore", "ignore", "pipe"] as const;
  const worker = spawn(executable, ["serve", "visitors.capnp", "--control-fd=3"], { cwd: folder, stdio: [...stdio] });
  const port = await new Promise<number>((resolve, reject) => {
    worker.on("error", reject).on("exit", (code) => reject(new Error(`workerd ended with ${code}`)));
    let told = "";
    (worker.stdio[3] as Readable).setEncoding("utf8").on("data", (text: string) => {
      told += text;
      const found = /"port":\s*(\d+)/.exec(told);
      if (found !== null) resolve(Number(found[1]));
    });
  });
  return { worker, origin: `http://127.0.0.1:${port}` };
}

async function prepare(executable: string): Promise<Ground> {
  const packed = pack();
  const { folder, root } = packed;
  await build({
    entryPoints: [join(import.meta.dirname, "programs/visitors.ts")],
    outfile: join(folder, "visitors.js"),
    bundle: true,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    external: ["./package/*"],
    logLevel: "silent",
  });
  const copy = join(folder, "package");
  if (!existsSync(copy)) cpSync(join(root, "dist"), copy, { recursive: true });
  const files = globSync("{*,call/*}.js", { cwd: copy }).filter((file) => file !== "bin.js");
  const modules = files.map(
    (file) => `(name = "package/${file}", esModule = embed "${relative(folder, join(copy, file))}")`,
  );
  const service = createServer(serve);
  const text = JSON.stringify(await listen(service));
  writeFileSync(
    join(folder, "visitors.capnp"),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .visitors),
    (name = "internet", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const visitors :Workerd.Worker = (
  compatibilityDate = "2026-11-01",
  modules = [(name = "visitors.js", esModule = embed "visitors.js"), ${modules.join(", ")}],
  bindings = [(name = "ORIGIN", text = ${text})],
);
`,
  );
  return { packed, service, ...(await startWorker(executable, folder)) };
}

describe.skipIf(workerd === undefined)("after visitors that were answered before their calls had ended", () => {
  let ground: Ground;
  beforeAll(async () => {
    ground = await prepare(workerd?.executable ?? "");
  });
  afterAll(() => {
    ground.worker.kill();
    ground.service.closeAllConnections();
    ground.service.close();
    rmSync(ground.packed.folder, { recursive: true, force: true });
  });
  const visit = async (world: string, what: string): Promise<string> =>
    await (await fetch(`${ground.origin}/${world}/${what}`)).text();

  interface Left {
    readonly title: string;
    readonly world: string;
    readonly visits: readonly string[];
    readonly answer: RegExp;
  }
  const raced = { visits: ["race"], answer: /left/ };
  test.each<Left>([
    { title: "Promise.all of a 404 and a slow call", world: "plain-1", visits: ["all"], answer: /404/ },
    { title: "Promise.race with a timer, in flight", world: "plain-3", ...raced },
    { title: "Promise.race with a timer, in a pause", world: "plain-4", visits: ["pause", "race"], answer: /429|left/ },
    { title: "Promise.race with a timer, in a provider", world: "provider-1", ...raced },
    { title: "Promise.race with a timer, in a rotation", world: "rotation-1", ...raced },
    { title: "Promise.race with a timer, in a renewal that takes the signal", world: "signal-1", ...raced },
    { title: "Promise.race with a timer, in a wait", world: "plain-5", visits: ["wait"], answer: /left/ },
    { title: "Promise.race with a timer, while a rotated token is stored", world: "storing-1", ...raced },
    { title: "Promise.race with a timer, in all slots of two", world: "slots-1", ...raced },
  ])("$title, the others get through", async ({ world, visits, answer }) => {
    for (const what of visits) {
      const told = await Promise.all(Array.from({ length: what === "pause" ? 1 : 10 }, () => visit(world, what)));
      for (const one of told) expect(one).toMatch(answer);
    }
    const others = await Promise.all(Array.from({ length: 12 }, () => visit(world, "other")));
    expect(others).toEqual(others.map(() => "done"));
    expect(await visit(world, "other")).toBe("done");
  });

  test("a token that one visitor made is rotated in the visit of another", async () => {
    expect(await visit("storing-2", "made")).toBe("made");
    expect(await visit("storing-2", "rotated")).toBe("pat_new_secret");
  });
});
